/** Milliseconds since the epoch as ISO 8601 UTC; null stays null. */
export function toIso(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : new Date(ms).toISOString();
}
