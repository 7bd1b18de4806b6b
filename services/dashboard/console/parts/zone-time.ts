const ZONE_FIELDS = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' } as const;

/** An ISO time in a zone: `Mon, 23 Nov 2026, 09:00`, with seconds unless they are zero. */
export function zoneTime(at: string, tz: string): string {
  const time = new Date(at);
  const seconds = time.getUTCSeconds() === 0 ? {} : { second: '2-digit' as const };
  return new Intl.DateTimeFormat('en-GB', { ...ZONE_FIELDS, ...seconds, timeZone: tz }).format(time);
}
