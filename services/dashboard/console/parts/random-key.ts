const BYTES = 8;

/** A name that nobody else has. `crypto.randomUUID` is there on https only; this is everywhere. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
