import { cutToBytes } from './cut-to-bytes.ts';
import { OwnContext, TemplateWriter } from './template-writer.ts';
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
 * Renders a hook's template to at most `maxBytes` bytes of UTF-8; where that cuts something off, a note at the end says so.
 * Without a template, or when it renders to nothing, the result names the event and has the payload as JSON.
 * Throws `request.malformed` for a payload that is nested too deeply.
 */
export function renderTemplate(template: string | null, view: TemplateView, maxBytes: number): string {
  const written = template === null ? '' : writeTemplate(template, view, maxBytes);
  return (written.trim() === '' ? defaultPrompt(view, maxBytes) : written).toWellFormed();
}

function writeTemplate(template: string, view: TemplateView, maxBytes: number): string {
  const writer = new TemplateWriter(maxBytes);
  const text = writer.render(template, new OwnContext(view));
  return writer.isCut ? withNote(text, maxBytes) : text;
}

function defaultPrompt({ event, delivery, payload }: TemplateView, maxBytes: number): string {
  const text = `Event ${event} (delivery ${delivery}):\n${typeof payload === 'string' ? payload : toJson(payload)}`;
  return Buffer.byteLength(text) <= maxBytes ? text : withNote(text, maxBytes);
}

function withNote(text: string, maxBytes: number): string {
  return `${cutToBytes(text, Math.max(0, maxBytes - NOTE_BYTES))}\n[cut: more than ${maxBytes} bytes]`;
}
