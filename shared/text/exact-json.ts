/**
 * JSON whose numbers keep their digits. JavaScript reads `7615917337495251231` as another number and `1e400` as none, so that two ids become
 * one and a value null, without a word.
 */

/** A number whose digits JavaScript would lose, as JSON that is written back as it came. */
export type RawNumber = object;

declare global {
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): boolean;
  }
}

/** What to do with a number that would lose digits: keep it as it was written, or make a text of its digits. */
type Keeping = 'raw' | 'text';

/** Parses JSON, and keeps the digits of all numbers. Throws the parser's own `SyntaxError`. */
export function parseExactJson(text: string, keeping: Keeping): unknown {
  if (!hasInexact(text)) return JSON.parse(text);
  const keep = (digits: string): unknown => (keeping === 'raw' ? JSON.rawJSON(digits) : digits);
  return JSON.parse(text, (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && !isExact(source) ? keep(source) : value,
  );
}

/** A number that would lose digits, and its place, such as `context.order_id`. */
export interface InexactNumber {
  path: string;
  digits: string;
}

/** Such a number of JSON; null where it has none. */
export function findInexact(text: string): InexactNumber | null {
  return hasInexact(text) ? findRaw(parseExactJson(text, 'raw')) : null;
}

/** Such a number of a value that was parsed with `raw`. */
export function findRaw(root: unknown): InexactNumber | null {
  const open: { value: unknown; path: readonly (string | number)[] }[] = [{ value: root, path: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (JSON.isRawJSON(value)) return { path: path.join('.'), digits: JSON.stringify(value) };
    for (const [name, member] of Object.entries(value)) open.push({ value: member, path: [...path, name] });
  }
  return null;
}

/** What a text needs to have at least; also in a string, which the pass below leaves out. */
const SUSPECT = /[0-9.]{16}|[0-9][eE][-+0-9]/;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const NUMBER = /[-+0-9.eE]+/y;

/** Whether JSON has a number that would lose digits. Of what is no JSON it says nothing certain: the parser refuses that. */
function hasInexact(text: string): boolean {
  if (!SUSPECT.test(text)) return false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      NUMBER.lastIndex = at;
      const [number = ''] = NUMBER.exec(text) ?? [];
      if (!isExact(number)) return true;
      at += number.length - 1;
    }
  }
  return false;
}

/** Where a string that begins at `start` ends. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) return at;
  }
  return text.length;
}

/** So few digits and so small a power are exact; most numbers of this length are. */
const SURE_CHARACTERS = 15;
const SURE = /^-?[\d.]+(?:e[-+]?\d{1,2})?$/i;
/** Written in full it was meant in full: `1e+23` is no id, and no amount in the smallest unit of a coin. */
const INTEGER = /^-?\d+$/;
/** Longer than any number is written that a double holds. */
const MAX_CHARACTERS = 400;
const MAX_PRECISION = 100;

/**
 * Whether JavaScript writes a number back with the digits that it came with. A fraction may have more digits than are written back, if they
 * are those of the same double: languages write 0.1 as 0.10000000000000001, too.
 */
function isExact(source: string): boolean {
  if (source.length <= SURE_CHARACTERS && SURE.test(source)) return true;
  if (source.length > MAX_CHARACTERS) return false;
  const value = Number(source);
  if (String(value) === source) return true;
  if (INTEGER.test(source)) return false;
  if (!Number.isFinite(value)) return false;
  const given = normalOf(source);
  if (given === normalOf(String(value))) return true;
  const digits = given.indexOf('e');
  return !Number.isInteger(value) && digits <= MAX_PRECISION && given === normalOf(value.toPrecision(Math.max(1, digits)));
}

/** The digits of a number without zeros at their ends, and their power of ten: equal for all forms of one number. */
function normalOf(number: string): string {
  const {
    int = '',
    fraction = '',
    power = '0',
  } = /^-?(?<int>\d+)(?:\.(?<fraction>\d+))?(?:[eE](?<power>[-+]?\d+))?$/.exec(number)?.groups ?? {};
  const digits = `${int}${fraction}`.replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  return trimmed === '' ? '0e0' : `${trimmed}e${Number(power) - fraction.length + digits.length - trimmed.length}`;
}
