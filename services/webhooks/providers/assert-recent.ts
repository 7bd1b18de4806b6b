import { badSignature } from './bad-signature.ts';

/** The window that Stripe, Slack and Standard Webhooks name: 5 minutes. */
export const DEFAULT_TOLERANCE_MS = 300_000;

export interface Timestamp {
  /** Digits, as the header had them. */
  text: string | null;
  /** Milliseconds per unit of the text. */
  unitMs: number;
  toleranceMs: number;
  nowMs: number;
}

/** Throws `auth.bad-signature` unless the time of signing is within the window, in the past as in the future. */
export function assertRecent({ text, unitMs, toleranceMs, nowMs }: Timestamp): void {
  if (text === null || !/^\d{1,15}$/.test(text)) throw badSignature('The time of signing is missing or not a number');
  if (Math.abs(nowMs - Number(text) * unitMs) > toleranceMs) throw badSignature('The time of signing is outside of the window');
}
