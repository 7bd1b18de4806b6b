import { type Command, InvalidArgumentError, Option } from 'commander';
import { ulid } from 'ulid';
import { z } from 'zod';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import type { JsonOptions } from '../options.ts';

interface EventOptions extends JsonOptions {
  data: unknown;
  id?: string;
  deliver: string;
}

const sentSchema = z.object({ resumed: z.number() });

export function addEventCommand(program: Command, contextOf: ContextOf): void {
  program
    .command('event <name>')
    .description('send an event to the runs that wait for it, and to those that begin to within an hour')
    .option('--data <json>', 'what the runs get', parseJson, null)
    .option('--id <text>', 'names the event: sent again under it, it resumes no run twice')
    .addOption(new Option('--deliver <to>', 'all runs that wait for it, or one').choices(['all', 'one']).default('all'))
    .option('--json', 'print the answer as JSON')
    .action((name: string, options: EventOptions, command: Command) => sendEvent(name, options, contextOf(command)));
}

async function sendEvent(name: string, { data, id = ulid(), deliver, json }: EventOptions, context: CommandContext): Promise<void> {
  const answer = await context.connect().post('/v1/events', { body: { name, data, id, deliver } });
  if (json === true) return context.terminal.json(answer);
  const { resumed } = readAnswer(sentSchema, answer);
  context.terminal.line(resumed === 1 ? '1 run goes on.' : `${resumed} runs go on.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Expected JSON.');
  }
}
