const ENTRY_ID = /^(\d{1,20})-(\d{1,20})$/;
/** Each of the two numbers of an id has 64 bits. */
const LARGEST = 2n ** 64n - 1n;

/** Whether Redis takes this for the id of an entry of a stream that others may come behind. */
export function isEntryId(text: string): boolean {
  const [, ms, number] = ENTRY_ID.exec(text) ?? [];
  if (ms === undefined || number === undefined || BigInt(ms) > LARGEST) return false;
  return BigInt(ms) === LARGEST ? BigInt(number) < LARGEST : BigInt(number) <= LARGEST;
}
