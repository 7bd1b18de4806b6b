import { MusterError } from '../../errors/index.ts';
import { endOfString, findInexact, type InexactNumber, parseExactJson, truncate } from '../../text/index.ts';
import { invalidRequest } from '../parse-input.ts';

/** What JSON may be made of: parsing and checking it costs by its values, not by its bytes. */
export interface JsonBounds {
  /** Objects and lists in each other. */
  readonly maxDepth: number;
  /** Members and elements in all. */
  readonly maxValues: number;
}

/**
 * Parses JSON within bounds, which are checked before the text is parsed. Numbers that would lose digits are kept as they were written, which
 * `JSON.stringify` writes back. Throws the parser's own `SyntaxError`.
 * Errors: `request.too-large` for too many values, `request.invalid` for too many levels.
 */
export function parseBoundedJson(text: string, bounds: JsonBounds): unknown {
  assertJsonBounds(text, bounds);
  return parseExactJson(text, 'raw');
}

/** The same for what is stored and computed with, where such a number is refused. Errors: `request.invalid` with its place, too. */
export function parseSafeJson(text: string, bounds: JsonBounds): unknown {
  assertJsonBounds(text, bounds);
  const inexact = findInexact(text);
  if (inexact === null) return JSON.parse(text);
  throw inexactRequest('body', inexact);
}

/** The refusal of a number that would lose digits, with its place from `root` on. */
export function inexactRequest(root: string, { path, digits }: InexactNumber): MusterError {
  const message = `the number ${truncate(digits, MAX_SHOWN_DIGITS)} would lose digits: send it as a text`;
  return invalidRequest([{ path: [root, path].filter((part) => part !== '').join('.'), message }]);
}

const MAX_SHOWN_DIGITS = 50;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** One pass over the text. Of what is no JSON it says nothing certain: the parser refuses that. */
function assertJsonBounds(text: string, { maxDepth, maxValues }: JsonBounds): void {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values += 1;
    else if (code === OPENING_BRACKET || code === OPENING_BRACE) {
      values += 1;
      depth += 1;
      if (depth > maxDepth) throw invalidRequest([{ path: 'body', message: `nested too deep: expected at most ${maxDepth} levels` }]);
    } else if (code === CLOSING_BRACKET || code === CLOSING_BRACE) depth -= 1;
    if (values > maxValues) throw tooManyValues(maxValues);
  }
}

/** The fields of a form are separated by `&`. Errors: `request.too-large`. */
export function assertFormBounds(text: string, { maxValues }: JsonBounds): void {
  let fields = 0;
  for (let at = text.indexOf('&'); at !== -1; at = text.indexOf('&', at + 1)) {
    fields += 1;
    if (fields > maxValues) throw tooManyValues(maxValues);
  }
}

/** For bytes that others parse: as JSON, or as a form by their content type. Errors as above. */
export function assertBodyBounds(body: Buffer, contentType: string | undefined, bounds: JsonBounds): void {
  // What is counted is ASCII, of which no other character of UTF-8 has a byte.
  const text = body.toString('latin1');
  if (isFormType(contentType ?? '')) assertFormBounds(text, bounds);
  else assertJsonBounds(text, bounds);
}

/** Whether a content type is that of a form. */
export function isFormType(contentType: string): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType);
}

function tooManyValues(maxValues: number): MusterError {
  return new MusterError('request.too-large', `The body has more than ${maxValues} members and elements`, { details: { maxValues } });
}
