import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { parseExactJson } from '#shared/text/index.ts';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { addPaging, hookOption, type JsonOptions } from './options.ts';
import { showList, type ListOptions } from '../output/table.ts';
import { pointInTime } from '../output/terminal.ts';

const hookSchema = z.object({
  id: z.string(),
  name: z.string().nullish(),
  provider: z.string(),
  agent: z.string().nullable(),
  event: z.string().nullish(),
  enabled: z.boolean(),
  path: z.string(),
});

interface NewHook {
  provider: string;
  agent?: string;
  event?: string;
  secret?: string;
  name?: string;
  template?: string;
  session?: string;
  directives?: boolean;
  option?: Record<string, unknown>;
  json?: boolean;
}

const APPLIES = 'apply the /schedule lines of its answers: whoever can send to it can then have schedules made';
const WARNING =
  'Whoever can send to it, or write what its events hold, can have the agent make, pause and cancel schedules that came of it.';

export function addHookCommands(program: Command, contextOf: ContextOf): void {
  const hooks = addPaging(program.command('hooks').description('list webhook endpoints'), '50').action(
    (options: ListOptions, command: Command) => runHooks(options, contextOf(command)),
  );
  hooks
    .command('create')
    .description('create an endpoint, and print the path that its sender posts to')
    .requiredOption('--provider <name>', 'the sender: github, gitlab, stripe, slack, standard, hmac, none')
    .option('--agent <id>', 'the agent that runs its tasks')
    .option('--event <name>', 'instead: the event that it sends to the runs that wait for it')
    .option('--secret <text>', 'the secret that the sender signs with; "-" reads it from standard input')
    .addOption(hookOption())
    .option('--name <text>', 'a name for people')
    .option('--template <mustache>', "template of the task's input, with event, delivery and payload")
    .option('--session <mustache>', "template of the task's session")
    .option('--directives', APPLIES)
    .option('--json', 'print the answer as JSON')
    .action((options: NewHook, command: Command) => runHookCreate(options, contextOf(command)));
  addHookUpdate(hooks, contextOf);
  addHookDeliveryCommands(hooks, contextOf);
  addHookSecret(hooks, contextOf);
  addHookSwitch(hooks, 'enable', true, contextOf);
  addHookSwitch(hooks, 'disable', false, contextOf);
  hooks
    .command('delete <id>')
    .description('delete an endpoint; its sender gets 404 from then on')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().delete(pathOf(id));
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Hook ${id} is deleted.`);
    });
}

const deliverySchema = z.object({
  id: z.string(),
  at: z.string(),
  verdict: z.string(),
  code: z.string().nullable(),
  reason: z.string().nullable(),
  event: z.string().nullable(),
  taskId: z.string().nullable(),
});
const madeSchema = z.object({ id: z.string() });

interface TestOptions extends JsonOptions {
  event: string;
  payload: unknown;
}

/** What a hook received, and tasks made of it by hand. */
function addHookDeliveryCommands(hooks: Command, contextOf: ContextOf): void {
  addPaging(hooks.command('deliveries <id>').description('list the newest deliveries of an endpoint, also the refused ones'), '50').action(
    (id: string, options: ListOptions, command: Command) => runHookDeliveries(id, options, contextOf(command)),
  );
  hooks
    .command('replay <id> <delivery>')
    .description('make another task of a delivery, with the endpoint as it is now')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, delivery: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`${pathOf(id)}/deliveries/${encodeURIComponent(delivery)}/replay`);
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(readAnswer(madeSchema, answer).id);
    });
  hooks
    .command('test <id>')
    .description('make a task of an event of your own, without the proof of a sender')
    .option('--event <name>', 'the name of the event', 'test')
    .option('--payload <json>', 'the payload', parseJson, {})
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { event, payload, json }: TestOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().post(`${pathOf(id)}/test`, { body: { event, payload } });
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(readAnswer(madeSchema, answer).id);
    });
}

function parseJson(text: string): unknown {
  try {
    // The server says where a number is that would lose digits.
    return parseExactJson(text, 'raw');
  } catch {
    throw new InvalidArgumentError('Expected JSON.');
  }
}

function runHookDeliveries(id: string, { limit, cursor, ...options }: ListOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: `${pathOf(id)}/deliveries`,
      query: { limit, cursor },
      item: deliverySchema,
      heading: ['DELIVERY', 'AT', 'VERDICT', 'EVENT', 'TASK'],
      row: ({ id: delivery, at, verdict, event, taskId, code, reason }) => [
        delivery,
        pointInTime(at),
        verdict,
        event ?? '',
        taskId ?? `${reason ?? ''}${code === null ? '' : ` [${code}]`}`,
      ],
      empty: 'Nothing was received lately.',
    },
    options,
    context,
  );
}

interface SecretOptions extends JsonOptions {
  secret?: string;
  endFormer?: boolean;
}

function addHookSecret(hooks: Command, contextOf: ContextOf): void {
  hooks
    .command('secret <id>')
    .description('change the secret of an endpoint; the former one stays valid for a while, so that its sender can change')
    .option('--secret <text>', 'the new secret; "-" reads it from standard input')
    .option('--end-former', 'end former secrets at once, as for one that leaked')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { secret: given, endFormer, json }: SecretOptions, command: Command) => {
      const context = contextOf(command);
      const secret = given === '-' ? (await context.readInput()).trim() : given;
      const answer = await context
        .connect()
        .patch(pathOf(id), { body: { secret, keepFormerSecret: endFormer === true ? false : undefined } });
      if (json === true) return context.terminal.json(answer);
      const { formerSecretUntil } = readAnswer(z.object({ formerSecretUntil: z.string().nullable() }), answer);
      const former =
        formerSecretUntil === null ? 'no former secret is valid' : `a former secret is valid until ${pointInTime(formerSecretUntil)}`;
      context.terminal.line(`Hook ${id} is changed; ${former}.`);
    });
}

interface HookChanges extends JsonOptions {
  agent?: string;
  event?: string;
  name?: string;
  template?: string;
  session?: string;
  directives?: boolean;
}

function addHookUpdate(hooks: Command, contextOf: ContextOf): void {
  hooks
    .command('update <id>')
    .description('change what an endpoint makes of an event; what is not named stays')
    .option('--agent <id>', 'the agent that runs its tasks')
    .option('--event <name>', 'the event that it sends to runs instead of making tasks')
    .option('--name <text>', 'a name for people')
    .option('--template <mustache>', "template of the task's input, with event, delivery and payload")
    .option('--session <mustache>', "template of the task's session")
    .option('--directives', APPLIES)
    .option('--no-directives', 'leave the /schedule lines of its answers as they are')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json, ...changes }: HookChanges, command: Command) => {
      const context = contextOf(command);
      const { terminal } = context;
      const answer = await context.connect().patch(pathOf(id), { body: changes });
      if (json === true) return terminal.json(answer);
      terminal.line(`Hook ${id} is changed.`);
      if (changes.directives === true) terminal.note(WARNING);
    });
}

function addHookSwitch(hooks: Command, verb: 'enable' | 'disable', enabled: boolean, contextOf: ContextOf): void {
  hooks
    .command(`${verb} <id>`)
    .description(enabled ? 'accept requests of its sender again' : 'answer 404 until the hook is enabled again')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().patch(pathOf(id), { body: { enabled } });
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Hook ${id} is ${verb}d.`);
    });
}

function pathOf(id: string): string {
  return `/v1/hooks/${encodeURIComponent(id)}`;
}

function runHooks({ limit, cursor, ...options }: ListOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: '/v1/hooks',
      query: { limit, cursor },
      item: hookSchema,
      heading: ['HOOK', 'PROVIDER', 'AGENT OR EVENT', 'STATE', 'NAME'],
      row: ({ id, provider, agent, event, enabled, name }) => [
        id,
        provider,
        event ?? agent ?? '',
        enabled ? 'enabled' : 'disabled',
        name ?? '',
      ],
      empty: 'There is no hook. Create one: npx muster hooks create --provider github --agent echo --secret -',
    },
    options,
    context,
  );
}

async function runHookCreate(
  { provider, agent, event, name, template, session, directives, option: options, json, ...given }: NewHook,
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  const secret = given.secret === '-' ? (await context.readInput()).trim() : given.secret;
  const answer = await context
    .connect()
    .post('/v1/hooks', { body: { provider, agent, event, secret, name, template, session, directives, options } });
  if (json === true) return terminal.json(answer);
  const hook = readAnswer(hookSchema, answer);
  terminal.line(hook.path);
  terminal.note(terminal.paintNote(`Hook ${hook.id}: its sender posts to this path of the installation's address.`, 'dim'));
  if (directives === true) terminal.note(WARNING);
}
