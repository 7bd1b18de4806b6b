import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../read-answer.ts';
import type { RunContext } from '../run-context.ts';
import { showResourceTable, type ListOptions } from './resource-table.ts';

const hookSchema = z.object({
  id: z.string(),
  name: z.string().nullish(),
  provider: z.string(),
  agent: z.string(),
  enabled: z.boolean(),
  path: z.string(),
});

interface NewHook {
  provider: string;
  agent: string;
  secret?: string;
  name?: string;
  template?: string;
  session?: string;
  json?: boolean;
}

/** `muster hooks` and what is below it. */
export function addHookCommands(program: Command, contextOf: (command: Command) => RunContext): void {
  const hooks = program
    .command('hooks')
    .description('list webhook endpoints')
    .option('--limit <count>', 'at most 200', '50')
    .option('--cursor <cursor>', 'go on where the last list ended')
    .option('--json', 'print the answer as JSON')
    .action((options: ListOptions, command: Command) => listHooks(options, contextOf(command)));
  hooks
    .command('create')
    .description('make an endpoint and print the path that its sender posts to')
    .requiredOption('--provider <name>', 'who sends: github, gitlab, stripe, slack, standard, hmac, none')
    .requiredOption('--agent <id>', 'who handles what comes in')
    .option('--secret <text>', 'what the sender signs with; "-" reads it from standard input')
    .option('--name <text>', 'for people')
    .option('--template <mustache>', "the task's input, over event, delivery and payload")
    .option('--session <mustache>', "the task's session")
    .action((_options: unknown, command: Command) => createHook(command.optsWithGlobals<NewHook>(), contextOf(command)));
  addHookSwitch(hooks, 'enable', true, contextOf);
  addHookSwitch(hooks, 'disable', false, contextOf);
  hooks
    .command('delete <id>')
    .description('delete an endpoint; its sender gets 404 from then on')
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      await context.connect().delete(pathOf(id));
      context.terminal.line(`Hook ${id} is deleted.`);
    });
}

function addHookSwitch(hooks: Command, verb: 'enable' | 'disable', enabled: boolean, contextOf: (command: Command) => RunContext): void {
  hooks
    .command(`${verb} <id>`)
    .description(enabled ? 'take deliveries again' : 'answer 404 until it is enabled again')
    .action(async (id: string, _options: unknown, command: Command) => {
      const context = contextOf(command);
      await context.connect().patch(pathOf(id), { body: { enabled } });
      context.terminal.line(`Hook ${id} is ${verb}d.`);
    });
}

function pathOf(id: string): string {
  return `/v1/hooks/${encodeURIComponent(id)}`;
}

function listHooks({ limit, cursor, ...options }: ListOptions, context: RunContext): Promise<void> {
  return showResourceTable(
    {
      path: '/v1/hooks',
      query: { limit, cursor },
      item: hookSchema,
      heading: ['HOOK', 'PROVIDER', 'AGENT', 'STATE', 'NAME'],
      row: ({ id, provider, agent, enabled, name }) => [id, provider, agent, enabled ? 'enabled' : 'disabled', name ?? ''],
      empty: 'There is no hook. Make one: npx muster hooks create --provider github --agent echo --secret -',
    },
    options,
    context,
  );
}

async function createHook({ provider, agent, name, template, session, json, ...given }: NewHook, context: RunContext): Promise<void> {
  const { terminal } = context;
  const secret = given.secret === '-' ? (await context.readInput()).trim() : given.secret;
  const answer = await context.connect().post('/v1/hooks', { body: { provider, agent, secret, name, template, session } });
  if (json === true) return terminal.json(answer);
  const hook = readAnswer(hookSchema, answer);
  terminal.line(hook.path);
  terminal.note(terminal.paintNote(`Hook ${hook.id}: its sender posts to this path of the installation's address.`, 'dim'));
}
