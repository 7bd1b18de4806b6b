import type { AgentResult } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { findLimitIn } from './command-limit.ts';
import { limitFailure, limitOfEnd, limitsOf } from './command-limits.ts';
import type { CommandOptions, CommandRun } from './command-run.ts';
import type { ProgramEnd } from './presets/preset.ts';
import type { OutputReader } from './read-output.ts';
import { commandOf } from './start/command-line.ts';
import { type CommandEnd, startFailure } from './start/spawn-command.ts';
import type { RunningCommand } from './start/start-command.ts';
import type { ReportedLimit } from './stderr-lines.ts';

/** Throws for a program that was ended because it passed a limit, or that failed after the kernel refused it more. */
export function assertLimits(
  { definition }: CommandRun,
  { settings }: CommandOptions,
  end: CommandEnd & { readonly breach: ReturnType<RunningCommand['breach']> },
): void {
  const limit = end.exitCode === 0 ? undefined : (end.breach ?? limitOfEnd(end));
  if (limit === undefined) return;
  throw limitFailure(commandOf(definition).program, limit, limitsOf(definition, settings));
}

/** Whether the attempt was stopped because it took too long. */
export function isLate({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.name === 'TimeoutError';
}

export interface RunEnd extends CommandEnd, ProgramEnd {
  /** The limit that it has reported, if any. */
  readonly limit: ReportedLimit | null;
  readonly zone: string;
  readonly exitCode: CommandEnd['exitCode'];
}

/** What a program reports of its failure says more than its exit code, and one that was ended after its answer has none of its own. */
export function readAnswer(run: CommandRun, output: OutputReader, end: RunEnd): AgentResult {
  const { definition } = run;
  if (end.spawnCode !== undefined) throw describeEnd(definition, end);
  const answer = output.end(end);
  const isGood = end.ended === 'answered' ? output.answered() > 0 : end.ended === null && end.exitCode === 0;
  if (isGood && (end.limit === null || output.hasText())) return answer;
  const limit = findLimitIn(commandOf(definition).program, end);
  if (limit !== null) throw limit;
  if (end.ended === 'silent') throw silenceFailure(definition);
  throw describeEnd(definition, end);
}

function silenceFailure(definition: CommandRun['definition']): TaskFailure {
  const { silenceMs = 0 } = definition;
  const { program } = commandOf(definition);
  return new TaskFailure('COMMAND_SILENT', `"${program}" wrote nothing for ${silenceMs} ms (silenceMs), and was ended`, {
    details: { silenceMs },
  });
}

function describeEnd(definition: CommandRun['definition'], { exitCode, signal, spawnCode }: CommandEnd): TaskFailure {
  const { program } = commandOf(definition);
  if (spawnCode !== undefined) return startFailure(program, spawnCode);
  const how = exitCode === undefined ? `was ended by ${signal ?? 'a signal'}` : `ended with code ${exitCode}`;
  return new TaskFailure('COMMAND_FAILED', `"${program}" ${how}`, {
    details: { exitCode: exitCode ?? null, signal: signal ?? null },
  });
}
