import { createHash } from 'node:crypto';
import { truncateBytes } from '#shared/text/index.ts';
import { parseTemplate } from './parse-template.ts';
import { type RenderBounds, TemplateRenderer, toJson } from './template-renderer.ts';

/** What a template may name. */
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
 * Renders a hook's template within its bounds; where that cuts something off, a note at the end says so.
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
 * The session that a hook's template names for this event; null without a template and when nothing is left of it.
 * A long name keeps its beginning and gets a digest of the whole, so that two long names do not share a lane.
 */
export function renderSession(template: string | null, view: TemplateView, maxSteps: number): string | null {
  if (template === null) return null;
  const text = new TemplateRenderer({ maxBytes: MAX_SESSION_BYTES, maxSteps }).render(parseTemplate(template), view);
  const name = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  if (name.length <= MAX_SESSION_CHARACTERS) return name || null;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${name.slice(0, MAX_SESSION_CHARACTERS - digest.length - 1).toWellFormed()}~${digest}`;
}
