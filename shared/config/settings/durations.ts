import type { z } from 'zod';

/** Node runs a timer of 2^31 ms or more at once. Half of that leaves room for sums of durations. */
export const MAX_TIMER_MS = 1_000_000_000;
/** Ten years, for how long something is kept or looked back on. Nothing waits for it. */
export const MAX_KEPT_MS = 10 * 366 * 86_400_000;

/** Settings, by the last part of their name, that run no timer. */
const KEPT = new Set(
  (
    'afterMs agentsMs criticalWaitMs disableAfterMs expiresInMs historyMs idempotencyMs keepSpentMs linkMs lowAgeMs maxAgeMs maxHoldMs maxP95Ms maxTreeMs ' +
    'maxVisitorTokenMs secretOverlapMs serviceTimesMs signInMs slaLeadMs tenantAgentsMs tenantHistoryMs uploadMs visitorTokenMs warningWaitMs windowMs'
  ).split(' '),
);

/** The maximum of the duration with this name. */
export function maxDurationMs(name: string): number {
  return KEPT.has(name) || /retentionMs$/i.test(name) ? MAX_KEPT_MS : MAX_TIMER_MS;
}

type Issue = { path: PropertyKey[]; message: string };

/** Refuses durations that are longer than what they run: each setting whose name ends in `Ms`, wherever it stands. */
export function checkDurations(settings: object, context: z.RefinementCtx): void {
  for (const { path, message } of longDurations(settings, [])) context.addIssue({ code: 'custom', path, message, input: settings });
}

function longDurations(value: object, path: readonly PropertyKey[]): Issue[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]): Issue[] => {
    if (typeof member === 'object' && member !== null) return longDurations(member, [...path, name]);
    const max = maxDurationMs(name);
    if (typeof member !== 'number' || !name.endsWith('Ms') || member <= max) return [];
    return [{ path: [...path, name], message: `expected at most ${max} (${Math.floor(max / 86_400_000)} days), got ${member}` }];
  });
}
