const NAMES: Readonly<Record<string, string>> = {
  webchat: 'Web chat',
  api: 'API',
  telegram: 'Telegram',
  slack: 'Slack',
  discord: 'Discord',
  whatsapp: 'WhatsApp',
  webhook: 'Webhook',
  schedule: 'Schedule',
  proactive: 'Proactive',
  delegation: 'Delegation',
};

/** Where a session comes from, for people. */
export function originText({ origin, surface }: { origin?: string | null | undefined; surface: string }): string {
  const name = origin ?? surface;
  return NAMES[name] ?? name;
}

/** Where sessions can come from, for a filter. */
export const ORIGINS: readonly { value: string; label: string }[] = Object.entries(NAMES).map(([value, label]) => ({ value, label }));
