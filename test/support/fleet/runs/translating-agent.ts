import { generateText } from 'ai';
import { appendFileSync } from 'node:fs';
import type { AgentFunction } from '#shared/config/define-config.ts';

/** Where it notes what it began with, in the folder of its fleet. */
export const TRANSLATED = 'translated.jsonl';

/** Notes its input in a step, and has its lines translated at the same time. */
export const run: AgentFunction = async ({ input }, { model, step, once }) => {
  const lines = await step('split', () => {
    appendFileSync(TRANSLATED, `${JSON.stringify({ input, key: once('split') })}\n`);
    return input.split('\n');
  });
  const texts = await Promise.all(lines.map(async (line) => (await generateText({ model: model('small'), prompt: line })).text));
  return texts.join('\n');
};
