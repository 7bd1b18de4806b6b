import { z } from 'zod';

/** The two clocks a process reads; tests hand in their own. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: for records and comparison with other machines. */
  now(): number;
  /** Milliseconds from an arbitrary start that never jump: for deadlines inside one process. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** Milliseconds since the epoch as ISO 8601 UTC; null stays null. */
export function toIso(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}

/**
 * A time within a sentence for people, `2026-05-01 09:00:00 UTC`, of milliseconds since the epoch. The console shows it in the viewer's
 * zone; fields that programs read are ISO.
 */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A time in ISO 8601 with its offset, as callers write it. */
export const instantSchema = z.iso.datetime({
  offset: true,
  error: 'expected a time in ISO 8601 with its offset, like 2026-05-01T09:00:00Z',
});
