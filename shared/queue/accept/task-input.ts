import { type AgentDefinition, inputSchemaOf } from '../../config/index.ts';
import { MusterError } from '../../errors/index.ts';
import { sentenceOf, textOf } from '../../text/index.ts';
import { assertLevels } from './check-request.ts';
import type { AcceptRequest, TextRequest } from './request.ts';

/**
 * The text that a task stores of its input. An agent with a schema reads the same value out of it that was sent, or the JSON in a text that was
 * sent. Errors: `request.invalid`.
 */
export function inputOf({ agent, input }: AcceptRequest, definition: AgentDefinition): Pick<TextRequest, 'input'> {
  const schema = inputSchemaOf(definition);
  if (schema === undefined) {
    if (typeof input === 'string') return { input };
    throw new MusterError('request.invalid', `input: expected a text, because the input of the agent "${agent}" has no schema`, {
      details: { problems: [{ path: 'input', message: 'expected a text' }] },
    });
  }
  assertLevels('input', input);
  const text = textOf(schema, input);
  if (text.problems === undefined) return { input: text.value };
  throw new MusterError('request.invalid', sentenceOf('input', text.problems), {
    details: {
      problems: text.problems.slice(0, MAX_PROBLEMS).map(({ path, message }) => ({ path: ['input', ...path].join('.'), message })),
    },
  });
}

/** A hostile input could have a problem per byte. */
const MAX_PROBLEMS = 50;
