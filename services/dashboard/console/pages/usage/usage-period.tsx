import { SegmentedControl } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import type { Period } from './usage-path.ts';

const DAY_MS = 86_400_000;
const TO_DAYS = 10;
/** Of the answer without a first day. */
const USUAL = '30 days';

function periods(now: number): ReadonlyMap<string, Period> {
  const day = (ago: number): string => new Date(now - ago * DAY_MS).toISOString().slice(0, TO_DAYS);
  return new Map([
    ['Today', { since: day(0), until: null }],
    ['Yesterday', { since: day(1), until: day(1) }],
    ['7 days', { since: day(6), until: null }],
    [USUAL, { since: null, until: null }],
  ]);
}

/** Periods that people ask for most. None is marked for days of one's own choice. */
export function UsagePeriod({ period, onChange }: { period: Period; onChange: (period: Period) => void }): ReactElement {
  // As of the visit: a page that stays open over midnight keeps its days until it is loaded again.
  const [openedAt] = useState(Date.now);
  const all = periods(openedAt);
  const chosen = [...all].find(([, each]) => each.since === period.since && each.until === period.until);
  const change = (name: string): void => {
    const next = all.get(name);
    if (next !== undefined) onChange(next);
  };
  return <SegmentedControl size="xs" aria-label="Period" data={[...all.keys()]} value={chosen?.[0] ?? ''} onChange={change} />;
}
