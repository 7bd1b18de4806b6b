import type { ReactElement } from 'react';

const DAY = { day: 'numeric', month: 'short' } as const;
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;

/** An ISO time by this browser's clock, with its zone: `23 Nov, 09:00:12 CET`; the exact one on hover. */
export function ClockTime({ at, withDay = true }: { at: string; withDay?: boolean }): ReactElement {
  const format = new Intl.DateTimeFormat('en-GB', { ...(withDay ? DAY : {}), ...CLOCK, timeZoneName: 'short' });
  return (
    <time dateTime={at} title={at}>
      {format.format(new Date(at))}
    </time>
  );
}
