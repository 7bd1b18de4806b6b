const ID_TIME_CHARACTERS = 10;
const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** The smallest id of this millisecond: the time part of a ULID. */
export function idAt(ms: number): string {
  let rest = Math.max(0, Math.floor(ms));
  let text = '';
  for (let digit = 0; digit < ID_TIME_CHARACTERS; digit += 1) {
    text = `${CROCKFORD[rest % 32]}${text}`;
    rest = Math.floor(rest / 32);
  }
  return text;
}
