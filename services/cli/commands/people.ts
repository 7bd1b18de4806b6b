import type { Command } from 'commander';
import { z } from 'zod';
import { readAnswer } from '../client/api-client.ts';
import type { CommandContext, ContextOf } from '../command-context.ts';
import { type ListOptions, showList } from '../output/table.ts';
import { pointInTime } from '../output/terminal.ts';
import { addPaging, type JsonOptions } from './options.ts';

const personSchema = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  roles: z.array(z.object({ tenant: z.string(), scopes: z.array(z.string()) })),
  disabled: z.boolean(),
  lastSignInAt: z.string(),
});

export function addPeopleCommands(program: Command, contextOf: ContextOf): void {
  const people = addPaging(program.command('people').description('list people who signed in at the identity provider'), '50').action(
    (options: ListOptions, command: Command) => runPeople(options, contextOf(command)),
  );
  addSignOut(people, contextOf);
  for (const action of ['disable', 'enable'] as const) {
    people
      .command(`${action} <id>`)
      .description(action === 'disable' ? 'take all roles of a person at once' : 'give a person the roles back')
      .option('--json', 'print the answer as JSON')
      .action((id: string, { json }: JsonOptions, command: Command) => runChange({ id, action, json }, contextOf(command)));
  }
}

function addSignOut(people: Command, contextOf: ContextOf): void {
  people
    .command('sign-out <id>')
    .description('end all sign-ins of a person, who may sign in again')
    .option('--json', 'print the answer as JSON')
    .action(async (id: string, { json }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const answer = await context.connect().delete(`/v1/people/${encodeURIComponent(id)}/sign-ins`);
      if (json === true) return context.terminal.json(answer);
      context.terminal.line('The person is signed out of all browsers.');
    });
}

function runPeople({ json, ...query }: ListOptions, context: CommandContext): Promise<void> {
  return showList(
    {
      path: '/v1/people',
      query,
      item: personSchema,
      heading: ['PERSON', 'NAME', 'EMAIL', 'STATE', 'LAST SIGN-IN', 'ROLES'],
      row: ({ id, name, email, roles, disabled, lastSignInAt }) => [
        id,
        name,
        email ?? '-',
        disabled ? 'disabled' : 'enabled',
        pointInTime(lastSignInAt),
        roles.map(({ tenant, scopes }) => `${tenant}: ${scopes.join(',')}`).join('; '),
      ],
      empty: 'Nobody has signed in at an identity provider.',
    },
    json === true ? { json } : {},
    context,
  );
}

interface Change {
  id: string;
  action: 'disable' | 'enable';
  json: boolean | undefined;
}

async function runChange({ id, action, json }: Change, context: CommandContext): Promise<void> {
  const body = { disabled: action === 'disable' };
  const answer = await context.connect().patch(`/v1/people/${encodeURIComponent(id)}`, { body });
  if (json === true) return context.terminal.json(answer);
  const { name, disabled } = readAnswer(personSchema, answer);
  context.terminal.line(`${name} is ${disabled ? 'disabled' : 'enabled'}.`);
}
