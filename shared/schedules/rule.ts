/**
 * When a schedule fires. Instants are milliseconds since the epoch.
 *
 * - `heartbeat`: every `everyMs` milliseconds, counted from `anchor` (when absent, from the instant the times are asked
 *   for), whatever the clocks on the wall do
 * - `cron`: at the wall times of a cron expression in the schedule's zone
 * - `once`: at one instant
 */
export type Rule = { kind: 'heartbeat'; everyMs: number; anchor?: number } | { kind: 'cron'; cron: string } | { kind: 'once'; at: number };

/** A rule as it was understood, for an answer that lets a person see what was understood. */
export interface ReadRule {
  rule: Rule;
  /** The normalised rule, which reads as the same rule again: `every 5m`, `0 9 * * 1-5` or an ISO time in UTC. */
  text: string;
  /** The rule in English, with wall times of the schedule's zone; it does not name the zone. */
  sentence: string;
}

/** The four ways to write a rule, of which exactly one is given. */
export interface RuleInput {
  /** Words: `every monday at 09:00`, `in 30 minutes`, or what the other three accept. */
  phrase?: string | undefined;
  /** Five or six fields. */
  cron?: string | undefined;
  /** A duration: `5m`, `every 5m`, `1.5h`. */
  every?: string | undefined;
  /** An ISO 8601 time; without an offset it is a wall time in the schedule's zone. */
  at?: string | undefined;
}
