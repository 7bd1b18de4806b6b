import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { showList, type ListOptions } from '../output/table.ts';
import { pointInTime } from '../output/terminal.ts';

const keySchema = z.object({ id: z.string(), name: z.string(), scopes: z.array(z.string()), createdAt: z.string() });

interface KeyOptions extends ListOptions {
  tenant: string;
}

interface NewKeyOptions extends KeyOptions {
  scopes: string;
}

export function addKeyCommands(program: Command, contextOf: ContextOf): void {
  const keys = program
    .command('keys')
    .description('list API keys')
    .option('--tenant <id>', 'the tenant of the keys', 'default')
    .option('--json', 'print the answer as JSON')
    .action((options: KeyOptions, command: Command) => runKeys(options, contextOf(command)));
  keys
    .command('create <name>')
    .description('create a key, and print its secret, which is shown only once')
    .option(
      '--scopes <list>',
      'admin, operate, journal, submit, answer, read, separated by commas; each includes the ones after it, but submit not answer, and journal neither',
      'submit',
    )
    .option('--tenant <id>', 'the tenant of the key', 'default')
    .option('--json', 'print the answer as JSON')
    .action((name: string, options: NewKeyOptions, command: Command) => runKeyCreate(name, options, contextOf(command)));
  keys
    .command('revoke <id>')
    .description('revoke a key at once')
    .option('--tenant <id>', 'the tenant of the key', 'default')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { tenant, json }: KeyOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().delete(`${pathOf(tenant)}/${encodeURIComponent(id)}`);
      if (json === true) return context.terminal.json(answer);
      context.terminal.line(`Key ${id} is revoked.`);
    });
}

function pathOf(tenant: string): string {
  return `/v1/tenants/${encodeURIComponent(tenant)}/keys`;
}

function runKeys({ tenant, ...options }: KeyOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: pathOf(tenant),
      item: keySchema,
      heading: ['KEY', 'SCOPES', 'CREATED', 'NAME'],
      row: ({ id, scopes, createdAt, name }) => [id, scopes.join(','), pointInTime(createdAt), name],
      empty: `Tenant ${tenant} has no key. Create one: npx muster keys create ci --scopes submit`,
    },
    options,
    context,
  );
}

async function runKeyCreate(name: string, { tenant, scopes, json }: NewKeyOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const body = { name, scopes: scopes.split(',').map((scope) => scope.trim()) };
  const answer = await context.connect().post(pathOf(tenant), { body });
  if (json === true) return terminal.json(answer);
  const { id, secret } = readAnswer(keySchema.extend({ secret: z.string() }), answer);
  terminal.line(secret);
  terminal.note(terminal.paintNote(`Key ${id} of tenant ${tenant}; the secret is shown only once.`, 'dim'));
}
