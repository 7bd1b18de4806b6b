/** Rules that many want, ready to be taken or changed. */
export const PRESETS = [
  { text: 'Every 5 minutes', phrase: 'every 5 minutes' },
  { text: 'Every hour', phrase: 'every hour' },
  { text: 'Daily at midnight', phrase: 'every day at 00:00' },
  { text: 'Weekly on Monday', phrase: 'every monday at 09:00' },
] as const;

export const OVERLAP_CHOICES = [
  { value: 'skip', label: 'Skip this one' },
  { value: 'queue', label: 'Run it afterwards' },
  { value: 'cancel-other', label: 'Stop the last one' },
  { value: 'allow', label: 'Run both' },
];

/** Among what waits in the queue of schedules. */
export const PRIORITY_CHOICES = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((priority) => ({
  value: String(priority),
  label: { 10: '10, first', 1: '1, in the background' }[priority] ?? String(priority),
}));

export const PLATFORM_CHOICES = [
  { value: '', label: 'Nowhere: they stay here' },
  { value: 'telegram', label: 'Telegram' },
  { value: 'slack', label: 'Slack' },
  { value: 'discord', label: 'Discord' },
  { value: 'whatsapp', label: 'WhatsApp' },
  { value: 'webchat', label: 'Web chat' },
];

const MISSED_CHOICES = [
  { value: 'once', label: 'Run once, late' },
  { value: 'skip', label: 'Leave it out' },
  { value: 'all', label: 'Run each of them, late' },
];

/** With the one that a schedule has: how many of them are run may be its own. */
export function missedChoices(missed: string): typeof MISSED_CHOICES {
  if (MISSED_CHOICES.some(({ value }) => value === missed)) return MISSED_CHOICES;
  return [...MISSED_CHOICES, { value: missed, label: `Run the newest ${missed.replaceAll(/\D/g, '')}, late` }];
}
