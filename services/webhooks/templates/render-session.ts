import { createHash } from 'node:crypto';
import { parseTemplate } from './parse-template.ts';
import type { TemplateView } from './render-template.ts';
import { TemplateRenderer } from './template-renderer.ts';

const MAX_CHARACTERS = 200;
const MAX_BYTES = 65_536;

/**
 * The session that a hook's template names for this event; null without a template and when nothing is left of it.
 * A long name keeps its beginning and gets a digest of the whole, so that two long names do not share a lane.
 */
export function renderSession(template: string | null, view: TemplateView, maxSteps: number): string | null {
  if (template === null) return null;
  const text = new TemplateRenderer({ maxBytes: MAX_BYTES, maxSteps }).render(parseTemplate(template), view);
  const name = text
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
  if (name.length <= MAX_CHARACTERS) return name || null;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `${name.slice(0, MAX_CHARACTERS - digest.length - 1).toWellFormed()}~${digest}`;
}
