import Mustache from 'mustache';
import { cutToBytes } from './cut-to-bytes.ts';
import { toJson } from './to-json.ts';

/** Sections entered and lists walked before rendering stops: lists in lists multiply without writing a character. */
const MAX_STEPS = 100_000;

/** Tokens as the library's parser makes them: type, value, and the rest that only the library reads. */
type Token = string[];

/**
 * Looks names up among a value's own properties only. The library would reach prototypes and call the functions it finds
 * there: `{{pop}}` would change the list it stands in, `{{payload.constructor}}` would run one.
 */
export class OwnContext extends Mustache.Context {
  override push(view: unknown): OwnContext {
    return new OwnContext(view, this);
  }

  override lookup(name: string): unknown {
    if (name === '.') return this.view;
    const found = followPath(this.view, name.split('.'));
    return found === undefined ? this.parent?.lookup(name) : found.value;
  }
}

function followPath(view: unknown, path: readonly string[]): { value: unknown } | undefined {
  let value = view;
  for (const name of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    const property = Object.getOwnPropertyDescriptor(value, name);
    if (property === undefined) return undefined;
    value = property.value;
  }
  return { value };
}

/**
 * Writes text as it is, without HTML escapes, objects and lists as JSON, and no more than its bounds allow. `isCut` says
 * afterwards whether something is missing.
 */
export class TemplateWriter extends Mustache.Writer {
  isCut = false;
  #bytesLeft: number;
  #stepsLeft = MAX_STEPS;

  constructor(maxBytes: number) {
    super();
    this.#bytesLeft = maxBytes;
  }

  override renderTokens(tokens: Token[], ...rest: RenderTokensRest): string {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) this.isCut = true;
    return this.isCut ? '' : super.renderTokens(tokens, ...rest);
  }

  override rawValue(token: Token): string {
    return this.#take(token[1] ?? '');
  }

  override escapedValue(token: Token, context: Mustache.Context): string {
    const value: unknown = context.lookup(token[1] ?? '');
    if (value === undefined || value === null) return '';
    return this.#take(typeof value === 'string' ? value : toJson(value));
  }

  override unescapedValue(token: Token, context: Mustache.Context): string {
    return this.escapedValue(token, context);
  }

  /** The library renders from left to right, so what is taken until here is the beginning of the whole. */
  #take(text: string): string {
    if (this.isCut) return '';
    const part = cutToBytes(text, this.#bytesLeft);
    this.isCut = part.length < text.length;
    this.#bytesLeft -= Buffer.byteLength(part);
    return part;
  }
}

type RenderTokensRest = Parameters<Mustache.Writer['renderTokens']> extends [unknown, ...infer Rest] ? Rest : never;
