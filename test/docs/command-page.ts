import type { Argument, Command, Option } from 'commander';
import { createProgram } from '../../services/cli/create-program.ts';

const LEAD = `# Commands

\`npx muster --help\` lists the commands, and \`npx muster <command> --help\` explains one. This page has the same, from the same source. Without
\`MUSTER_URL\` and \`MUSTER_API_KEY\` they reach the fleet that \`npm start\` runs on this machine. The beginning of a task's id is enough where no other task
has it.

Exit codes: 0 done, 1 failed or cancelled, 2 not understood or not allowed, 3 no server answers, 130 Ctrl-C.`;

function unused(): never {
  throw new Error('No command runs here');
}

/** Every command with its arguments and options, as Markdown. */
export function commandPage(): string {
  const io = { stdout: { write: unused }, stderr: { write: unused } };
  const program = createProgram({ contextOf: unused, version: '', doctor: unused, run: unused, io });
  const global = [`## For every command\n\n${tableOf('option', program.options.map(optionRow))}`];
  return `${[LEAD, ...global, ...program.commands.filter(isShown).map((command) => sectionOf(command))].join('\n\n')}\n`;
}

function sectionOf(command: Command, above = ''): string {
  const name = `${above}${command.name()}`;
  const usage = [name, ...command.registeredArguments.map(argumentText)].join(' ');
  const options = command.options.filter(({ hidden }) => !hidden);
  return [
    `${above === '' ? '##' : '###'} ${name}`,
    `\`npx muster ${usage}\`: ${textOf(command.description())}.`,
    ...(command.registeredArguments.some(({ description }) => description !== '')
      ? [tableOf('argument', command.registeredArguments.map(argumentRow))]
      : []),
    ...(options.length > 0 ? [tableOf('option', options.map(optionRow))] : []),
    ...command.commands.filter(isShown).map((each) => sectionOf(each, `${name} `)),
  ].join('\n\n');
}

/** Commander's own `help` is none of ours. */
function isShown(command: Command): boolean {
  return command.name() !== 'help';
}

function tableOf(heading: string, rows: readonly string[]): string {
  return [`| ${heading} | meaning |`, '| --- | --- |', ...rows].join('\n');
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function argumentRow(argument: Argument): string {
  return `| \`${argumentText(argument)}\` | ${textOf(argument.description)} |`;
}

function optionRow({ flags, description, defaultValue }: Option): string {
  const isSaid = defaultValue === undefined || defaultValue === false || (Array.isArray(defaultValue) && defaultValue.length === 0);
  return `| \`${flags.replaceAll('|', String.raw`\|`)}\` | ${textOf(description)}${isSaid ? '' : ` (default: \`${JSON.stringify(defaultValue)}\`)`} |`;
}

/** As a cell of a table takes it, without what could be read as HTML. */
function textOf(description: string): string {
  return description.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;');
}
