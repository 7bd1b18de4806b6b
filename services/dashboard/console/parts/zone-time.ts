const FIELDS = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/** An ISO time as the clocks of a zone show it: `Mon, 23 Nov 2026, 09:00`; with seconds when there are any. */
export function zoneTime(at: string, tz: string): string {
  const time = new Date(at);
  const seconds = time.getUTCSeconds() === 0 ? {} : { second: '2-digit' as const };
  return new Intl.DateTimeFormat('en-GB', { ...FIELDS, ...seconds, timeZone: tz }).format(time);
}

/** The zone of this browser's clock. */
export function ownZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
