import type { Command } from 'commander';
import { z } from 'zod';
import { durationText } from '#shared/time/index.ts';
import { CliProblem, EXIT } from '../../cli-problem.ts';
import { readAnswer } from '../../client/api-client.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { showTable } from '../../output/table.ts';
import { pointInTime } from '../../output/terminal.ts';
import { limitsIn, type LimitOptions, withLimits } from './limit-options.ts';

const previewSchema = z.object({
  sentence: z.string(),
  byLimit: z.array(z.object({ limit: z.string(), waited: z.number(), refused: z.number(), longestMs: z.number() })),
});

const rateSchema = z.object({ perMinute: z.number(), perHour: z.number(), burst: z.number().optional() });
const figureSchema = z.union([z.number(), z.null(), rateSchema]);
type Figure = z.infer<typeof figureSchema>;
const limitsSchema = z.record(z.string(), z.union([z.number(), z.null(), z.record(z.string(), figureSchema)]));
type Limits = z.infer<typeof limitsSchema>;
const fleetSchema = z.object({ limits: limitsSchema, origin: z.string(), changedAt: z.string().nullable(), running: z.number() });
const tenantSchema = z.object({ limits: limitsSchema.nullable(), effectiveLimits: limitsSchema.nullable() });

export function addLimitCommands(program: Command, contextOf: ContextOf): void {
  const limits = program.command('limits').description('show the limits of the fleet, or of a tenant');
  limits
    .command('show [tenant]', { isDefault: true })
    .description('show the limits that hold now; the word "show" may be left out')
    .option('--json', 'print the answer as JSON')
    .action((tenant: string | undefined, options: { json?: boolean }, command: Command) => runShow(tenant, options, contextOf(command)));
  withLimits(limits.command('set [tenant]'))
    .description('change limits while the fleet runs; what is not named stays, and "none" takes a limit away')
    .option('--reset', 'let the limits of the configuration hold again')
    .action((tenant: string | undefined, options: LimitOptions & { reset?: boolean }, command: Command) =>
      runSet(tenant, options, contextOf(command)),
    );
  withLimits(limits.command('preview [tenant]'))
    .description('show what limits would have done to the tasks of the last day; changes nothing')
    .action((tenant: string | undefined, options: LimitOptions, command: Command) => runPreview(tenant, options, contextOf(command)));
}

function pathOf(tenant: string): string {
  return `/v1/tenants/${encodeURIComponent(tenant)}`;
}

async function runShow(tenant: string | undefined, { json }: { json?: boolean }, context: CommandContext): Promise<void> {
  const answer = await context.connect().get(tenant === undefined ? '/v1/limits' : pathOf(tenant));
  if (json === true) return context.terminal.json(answer);
  if (tenant === undefined) showFleet(answer, context);
  else showTenant(tenant, answer, context);
}

function showFleet(answer: unknown, { terminal }: CommandContext): void {
  const { limits, origin, changedAt, running } = readAnswer(fleetSchema, answer);
  showLimits(limits, terminal);
  terminal.note(`${running} of at most ${textOf(z.number().catch(0).parse(limits['maxConcurrent']))} attempts run now.`);
  const isChanged = origin === 'api' && changedAt !== null;
  terminal.note(isChanged ? `Changed by API at ${pointInTime(changedAt)}.` : 'By the configuration.');
}

function showTenant(tenant: string, answer: unknown, { terminal }: CommandContext): void {
  const { limits, effectiveLimits } = readAnswer(tenantSchema, answer);
  if (effectiveLimits === null) return terminal.note(`Tenant ${tenant} has no limits.`);
  showLimits(effectiveLimits, terminal);
  terminal.note(limits === null ? 'By the configuration.' : 'Changed by API.');
}

/** A line per figure, of limits per class too. */
function showLimits(limits: Limits, terminal: CommandContext['terminal']): void {
  const rows = Object.entries(limits).flatMap(([name, figure]): string[][] => {
    if (typeof figure === 'number' || figure === null) return [[name, textOf(figure)]];
    return Object.entries(figure).map(([each, value]) => [`${name}.${each}`, textOf(value)]);
  });
  showTable({ heading: ['LIMIT', 'FIGURE'], rows, nextCursor: null }, terminal);
}

function textOf(figure: Figure): string {
  if (figure === null) return 'none';
  if (typeof figure === 'number') return String(figure);
  const { perMinute, perHour, burst = perMinute } = figure;
  return `${perMinute} a minute, ${perHour} an hour, ${burst} at once`;
}

async function runSet(tenant: string | undefined, options: LimitOptions & { reset?: boolean }, context: CommandContext): Promise<void> {
  const limits = limitsIn(options, tenant);
  if (isEmpty(limits) !== (options.reset === true)) {
    throw new CliProblem('Name the limits to change, as --running 50, or --reset alone', { exitCode: EXIT.usage });
  }
  const answer = await change(tenant, options.reset === true ? null : limits, context);
  if (options.json === true) return context.terminal.json(answer);
  if (tenant === undefined) return showFleet(answer, context);
  showTenant(tenant, await context.connect().get(pathOf(tenant)), context);
}

function isEmpty(limits: Record<string, unknown>): boolean {
  return Object.values(limits).every((figure) => figure === undefined);
}

async function change(tenant: string | undefined, limits: Record<string, unknown> | null, context: CommandContext): Promise<unknown> {
  const api = context.connect();
  if (tenant !== undefined) return await api.patch(pathOf(tenant), { body: { limits } });
  return limits === null ? await api.delete('/v1/limits') : await api.patch('/v1/limits', { body: limits });
}

async function runPreview(tenant: string | undefined, options: LimitOptions, context: CommandContext): Promise<void> {
  const path = tenant === undefined ? '/v1/limits/preview' : `${pathOf(tenant)}/limits/preview`;
  const limits = limitsIn(options, tenant);
  if (isEmpty(limits)) throw new CliProblem('Name the limits to try, as --running 50', { exitCode: EXIT.usage });
  const answer = await context.connect().post(path, { body: { limits } });
  if (options.json === true) return context.terminal.json(answer);
  const { sentence, byLimit } = readAnswer(previewSchema, answer);
  context.terminal.line(sentence);
  if (byLimit.length === 0) return;
  const rows = byLimit.map((effect) => [effect.limit, String(effect.waited), String(effect.refused), durationText(effect.longestMs)]);
  showTable({ heading: ['LIMIT', 'WAITED', 'REFUSED', 'LONGEST'], rows, nextCursor: null }, context.terminal);
}
