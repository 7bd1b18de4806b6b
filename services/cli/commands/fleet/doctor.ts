import type { Command } from 'commander';
import type { ExitCode } from '../../cli-problem.ts';
import type { CommandContext, ContextOf } from '../../command-context.ts';
import { wrapRow } from '../../output/table.ts';
import type { JsonOptions } from '../options.ts';
import { findAttention } from './attention.ts';
import { type Finding, findChecks } from './findings.ts';

export interface DoctorRequest {
  /** Prints JSON instead of a table. */
  json: boolean;
  /** Where the table or the JSON goes, in whole lines. */
  out: { write(text: string): unknown };
  /** What a fleet on another machine finds by its own checks; null when the commands reach that of this machine. */
  findChecks: () => Promise<Finding[] | null>;
  /** What needs attention in the fleet that this machine's commands reach. */
  findAttention: () => Promise<Finding[]>;
}
export type Doctor = (request: DoctorRequest) => Promise<ExitCode>;

export function addDoctorCommand(program: Command, contextOf: ContextOf, doctor: Doctor): void {
  program
    .command('doctor')
    .description(
      'check this machine (Node, configuration, agents) and the Redis of its fleet or of that at --url, and list what needs attention',
    )
    .option('--json', 'print the checks as JSON')
    .action(async ({ json = false }: JsonOptions, command: Command) => {
      const context = contextOf(command);
      const write = (text: string): void => (json ? context.terminal.content(text) : writeRows(text, context));
      const find = { findChecks: () => findChecks(context), findAttention: () => findAttention(context) };
      context.end(await doctor({ json, out: { write }, ...find }));
    });
}

/** State and name of a check; what was found stands behind them. */
const ROW_CELLS = 2;

function writeRows(text: string, { terminal }: CommandContext): void {
  const lines = text.replace(/\n$/, '').split('\n');
  for (const line of lines.flatMap((each) => wrapRow(each, ROW_CELLS, terminal.columns))) terminal.line(line);
}
