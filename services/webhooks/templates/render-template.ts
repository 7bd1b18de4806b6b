import { createHash } from 'node:crypto';
import { plainLine, truncateBytes } from '#shared/text/index.ts';
import { parseTemplate, type TemplateNode } from './parse-template.ts';
import { MusterError } from '#shared/errors/index.ts';

/** The values that a template may name. */
interface TemplateView {
  readonly event: string;
  readonly delivery: string;
  readonly payload: unknown;
}

/** Room for the note below. */
const NOTE_BYTES = 64;
const MAX_SESSION_CHARACTERS = 200;
const MAX_SESSION_BYTES = 65_536;

/**
 * Renders a hook's template within its bounds; a note at the end reports a cut.
 * Without a template, or when it renders to nothing, the result names the event and has the payload as JSON.
 * Throws `request.malformed` for a payload that is nested too deeply.
 */
export function renderTemplate(template: string | null, view: TemplateView, bounds: RenderBounds): string {
  const written = template === null ? '' : writeTemplate(template, view, bounds);
  return (written.trim() === '' ? defaultPrompt(view, bounds.maxBytes) : written).toWellFormed();
}

function writeTemplate(template: string, view: TemplateView, bounds: RenderBounds): string {
  const renderer = new TemplateRenderer(bounds);
  const text = renderer.render(parseTemplate(template), view);
  if (renderer.cut === 'steps') return withNote(text, `the template takes more than ${bounds.maxSteps} steps`, bounds.maxBytes);
  return renderer.cut === 'bytes' ? withNote(text, `more than ${bounds.maxBytes} bytes`, bounds.maxBytes) : text;
}

function defaultPrompt({ event, delivery, payload }: TemplateView, maxBytes: number): string {
  const text = `Event ${event} (delivery ${delivery}):\n${typeof payload === 'string' ? payload : toJson(payload)}`;
  return Buffer.byteLength(text) <= maxBytes ? text : withNote(text, `more than ${maxBytes} bytes`, maxBytes);
}

function withNote(text: string, why: string, maxBytes: number): string {
  return `${truncateBytes(text, Math.max(0, maxBytes - NOTE_BYTES))}\n[cut: ${why}]`;
}

/**
 * The session that a hook's template names for this event; null without a template, and when it renders to nothing or a value of it is
 * missing: the rest of the name would put events into one lane that have nothing to do with each other.
 * A long name keeps its beginning and gets a digest of the whole, so that two long names do not share a lane.
 */
export function renderSession(template: string | null, view: TemplateView, maxSteps: number): string | null {
  if (template === null) return null;
  const renderer = new TemplateRenderer({ maxBytes: MAX_SESSION_BYTES, maxSteps });
  const text = renderer.render(parseTemplate(template), view);
  if (renderer.lacksValue || renderer.cut === 'steps') return null;
  const name = plainLine(text);
  if (name.length <= MAX_SESSION_CHARACTERS) return name || null;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${name.slice(0, MAX_SESSION_CHARACTERS - digest.length - 1).toWellFormed()}~${digest}`;
}

export interface RenderBounds {
  /** Bytes of UTF-8 that are written. */
  readonly maxBytes: number;
  /** Tags, elements of lists, and names that are looked up at each level of sections. */
  readonly maxSteps: number;
}

/** A value that names are looked up in, and the section around it. */
interface Scope {
  readonly value: unknown;
  readonly parent: Scope | null;
}

/**
 * TemplateRenderer is responsible for rendering any template within bounds. Nested lists multiply without writing a character, and an
 * unknown name is looked up at every level. `cut` says afterwards which bound was met.
 *
 * Text is written as it is, without HTML escapes, objects and lists as JSON. Names are looked up among own properties only, and functions
 * are not called.
 */
class TemplateRenderer {
  cut: 'bytes' | 'steps' | null = null;
  /** Whether a value that the template writes was missing, null or empty. Names of sections ask only, and count as none. */
  lacksValue = false;
  readonly #written: string[] = [];
  #bytesLeft: number;
  #stepsLeft: number;

  constructor({ maxBytes, maxSteps }: RenderBounds) {
    this.#bytesLeft = maxBytes;
    this.#stepsLeft = maxSteps;
  }

  render(template: readonly TemplateNode[], view: unknown): string {
    this.#renderAll(template, { value: view, parent: null });
    return this.#written.join('');
  }

  #renderAll(nodes: readonly TemplateNode[], scope: Scope): void {
    for (const node of nodes) {
      if (!this.#step()) return;
      if (node.kind === 'text') this.#write(node.text);
      else if (node.kind === 'value') this.#writeValue(this.#lookup(node.path, scope));
      else this.#renderSection(node, scope);
    }
  }

  #renderSection({ path, content, isInverted }: Extract<TemplateNode, { kind: 'section' }>, scope: Scope): void {
    const value = this.#lookup(path, scope);
    const isEmpty = !value || (Array.isArray(value) && value.length === 0);
    if (isInverted) {
      if (isEmpty) this.#renderAll(content, scope);
      return;
    }
    if (isEmpty) return;
    if (!Array.isArray(value)) {
      this.#renderAll(content, value === true ? scope : { value, parent: scope });
      return;
    }
    for (const element of value) {
      if (!this.#step()) return;
      this.#renderAll(content, { value: element, parent: scope });
    }
  }

  /** The value of the innermost section that has all of the path; undefined when none has, or the steps are used up. */
  #lookup(path: readonly string[], scope: Scope): unknown {
    for (let level: Scope | null = scope; level !== null && this.cut === null; level = level.parent) {
      const found = this.#follow(path, level.value);
      if (found !== undefined) return found.value;
    }
    return undefined;
  }

  #follow(path: readonly string[], from: unknown): { value: unknown } | undefined {
    let value = from;
    for (const name of path) {
      if (!this.#step() || typeof value !== 'object' || value === null) return undefined;
      const property = Object.getOwnPropertyDescriptor(value, name);
      if (property === undefined) return undefined;
      value = property.value;
    }
    return { value };
  }

  #writeValue(value: unknown): void {
    if (this.cut !== null) return;
    const text = value === undefined || value === null ? '' : typeof value === 'string' ? value : toJson(value);
    this.lacksValue ||= text.trim() === '';
    this.#write(text);
  }

  /** Rendering goes from left to right, so the text up to a bound is the beginning of the entire text. */
  #write(text: string): void {
    if (this.cut !== null) return;
    const part = truncateBytes(text, this.#bytesLeft);
    if (part.length < text.length) this.cut = 'bytes';
    this.#bytesLeft -= Buffer.byteLength(part);
    this.#written.push(part);
  }

  #step(): boolean {
    if (this.cut !== null) return false;
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) this.cut = 'steps';
    return this.cut === null;
  }
}

/** Compact JSON. Throws `request.malformed` for what is nested too deeply to be written: the parser takes more than the writer. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (cause) {
    throw new MusterError('request.malformed', 'The body is nested too deeply', { cause });
  }
}
