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

/** A duration for a sentence, in its two largest units: `340 ms`, `1.2 s`, `3 min 20 s`, `23 h 42 min`, `2 d 3 h`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A time in ISO 8601 with its offset, as callers write it. */
export const instantSchema = z.iso.datetime({
  offset: true,
  error: 'expected a time in ISO 8601 with its offset, like 2026-05-01T09:00:00Z',
});
