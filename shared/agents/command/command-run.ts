import type { AgentContext, CommandSettings } from '../../config/index.ts';
import type { AgentRun, AgentRunnersOptions, DefinitionOf } from '../agent-kind.ts';
import type { AttemptFolder } from './folder/attempt-folder.ts';
import type { RunningCommands } from './processes/attempt-processes.ts';
import type { CommandCgroups } from './processes/cgroup.ts';
import type { AttemptUser, UserSource } from './users/attempt-users.ts';
import type { TenantTurn } from './users/tenant-turn.ts';

/** What a command needs of an attempt. */
export interface CommandRun extends Pick<
  AgentRun<DefinitionOf<'command'>>,
  'task' | 'definition' | 'inputArrived' | 'diagnose' | 'files' | 'reportTotal' | 'checkpoint' | 'sessions'
> {
  /** Called when the program's provider answers: nothing limits its account now. */
  readonly onProvider?: () => void;
  readonly context: Pick<AgentContext, 'signal' | 'write' | 'progress' | 'reportUsage' | 'input' | 'log' | 'trace'>;
}

export interface CommandOptions {
  /** The folder that a relative `cwd` starts from, and the default for it. */
  readonly directory: string;
  /** The variables of this process that the program gets. */
  readonly variables: Readonly<Record<string, string>>;
  readonly running: RunningCommands;
  readonly fleetId: AgentRunnersOptions['fleetId'];
  readonly settings: CommandSettings;
  /** Where attempts get cgroups of their own. */
  readonly cgroups: CommandCgroups;
  /** Who programs run as. */
  readonly users: UserSource;
  /** Where they share a user: whose run. */
  readonly turn: TenantTurn | null;
}

/** Of one attempt: the mark of its processes, where it may write, and its user, null being the user of this process. */
export interface CommandPlace {
  readonly mark: string;
  readonly folder: AttemptFolder;
  readonly user: AttemptUser | null;
  /** The session of a coding agent, where it is started with one. */
  readonly session?: StartedSession | null;
  /** Further words of its program. */
  readonly furtherWords?: readonly string[];
}

/** The session that a coding agent is started with. */
export interface StartedSession {
  readonly id: string;
  /** Whether it exists already. */
  readonly isResumed: boolean;
}
