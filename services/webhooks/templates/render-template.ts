import { cutToBytes } from './cut-to-bytes.ts';
import { parseTemplate } from './parse-template.ts';
import { TemplateRenderer, type RenderBounds } from './template-renderer.ts';
import { toJson } from './to-json.ts';

/** What a template may name. */
export interface TemplateView {
  readonly event: string;
  readonly delivery: string;
  readonly payload: unknown;
}

/** Room for the note below. */
const NOTE_BYTES = 64;

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
  return `${cutToBytes(text, Math.max(0, maxBytes - NOTE_BYTES))}\n[cut: ${why}]`;
}
