/**
 * Texts from outside: cut to a length without breaking a character, made one line that is all seen, compared in constant time where they are
 * secret, searched for, read as JSON without a loss of digits, and checked by schemas of any library.
 */
export { endOfString, findInexact, findRaw, type InexactNumber, parseExactJson } from './exact-json.ts';
export { foldablePart } from './foldable-part.ts';
export { isSameSecret } from './is-same-secret.ts';
export { jsonValue } from './json-value.ts';
export { PLAIN_LINE, plainLine, withoutDirections } from './plain-line.ts';
export { type AgentSchema, checkText, checkValue, isAgentSchema, jsonSchemaOf, sentenceOf, textOf } from './standard-schema.ts';
export { shortHashes } from './short-hashes.ts';
export { wellFormed } from './well-formed.ts';
export { ellipsize, truncate, truncateBytes } from './truncate.ts';
