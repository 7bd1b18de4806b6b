import type {
  AgentContext,
  AgentDefinition,
  AgentKind,
  AgentResult,
  AgentTask,
  AgentUsage,
  CommandSettings,
  Settings,
} from '../config/index.ts';
import type { AttemptAccount, AttemptModels, EndpointRequests } from '../models/index.ts';
import type { LearnedParameters } from '../providers/index.ts';
import type { CallerCall, ModelRequest } from '../tasks/index.ts';
import type { Clock } from '../time/index.ts';
import type { CallBatch } from './batches/batched-model.ts';
import type { OutputListing } from './command/folder/attempt-folder.ts';
import type { SessionNote } from './command/kept/session-note.ts';
import type { RunJournal } from './loop/run-journal.ts';

/** The definition of one kind of agent. */
export type DefinitionOf<Kind extends AgentKind> = Extract<AgentDefinition, { kind: Kind }>;

/**
 * What one kind of agent is made of, with an entry in `AGENT_KINDS`. Its members are methods, whose parameters TypeScript compares in both
 * directions, so that the registry may be indexed by a definition's own kind.
 */
export interface KindOfAgent<Definition extends AgentDefinition = AgentDefinition> {
  /** Makes the runner of one process. It opens nothing until it runs, and leaves nothing open after it. */
  openRunner(options: AgentRunnersOptions): AgentRunner<Definition>;
  /** Throws a `TaskFailure` when an agent of this definition could not run on this machine. Asks no server. */
  check(definition: Definition, environment: AgentEnvironment): void | Promise<void>;
  /** Secrets in the definition, or in the variables that it passes on. */
  secretsOf(definition: Definition, readVariable: AgentEnvironment['readSecret']): (string | undefined)[];
}

/**
 * Runs one attempt of one kind of agent.
 * Resolves with the answer, or rejects: with `TaskFailure` for a failure it can name (see `classifyFailure`), with the
 * signal's reason once the signal aborts. It settles promptly after an abort and leaves nothing running behind it.
 */
export type AgentRunner<Definition extends AgentDefinition = AgentDefinition> = {
  run(run: AgentRun<Definition>): Promise<AgentResult>;
}['run'];

/** One attempt, as a runner gets it. */
export interface AgentRun<Definition extends AgentDefinition = AgentDefinition> {
  readonly task: AgentTask;
  /** Of this attempt alone; its number comes again after an attempt that counted for nothing. */
  readonly token: number;
  readonly definition: Definition;
  /** Whether the operator's configuration has it; else its tenant made it by API. */
  readonly isOperators: boolean;
  readonly context: AgentContext;
  /** Its model calls pass through these. */
  readonly models: AttemptModels;
  /** Its requests to endpoints that are no models pass through these. */
  readonly requests: EndpointRequests;
  /** Replaces what it reported by all that it has used so far. */
  readonly reportTotal?: (used: AgentUsage) => void;
  /** A program that has an account of its own at a provider runs through this. */
  readonly account?: AttemptAccount;
  /** What its task's request had besides, where it came in OpenAI's protocol. */
  readonly request?: ModelRequest | null;
  /** Has a call of its model go by a provider's batch, while its task has time; null where it is to be made directly. */
  readonly callBatch?: CallBatch;
  /** Has the caller of that request do calls of its functions; null where it did not come back in time. */
  readonly callCaller?: (calls: readonly CallerCall[]) => Promise<readonly string[] | null>;
  /** Resolves once `context.input()` may have something to give, which may be at once; stays pending when nothing ever arrives. */
  readonly inputArrived: () => Promise<void>;
  /** Adds to the record of the attempt, should it fail or time out. */
  readonly diagnose: (found: Diagnostics) => void;
  /** Files of its task, for a runner that gives it a folder. */
  readonly files?: AttemptFiles;
  /** What it did, for the next attempt. */
  readonly journal: RunJournal;
  /** What it leaves for the next attempt, for a runner of what is no function. */
  readonly checkpoint?: AttemptCheckpoint;
  /** What coding agents keep of their sessions, for a runner of programs. */
  readonly sessions?: AttemptSessions;
  /** Settles like the work, or rejects with the signal's reason as soon as that aborts; the work then continues unwatched. */
  readonly untilStopped: <T>(work: Promise<T>) => Promise<T>;
}

/** What an agent leaves for the next attempt of its task. */
export interface AttemptCheckpoint {
  /** What earlier attempts left; null for nothing. */
  readonly text: string | null;
  /** JSON of what the run waited for, when it was suspended last; null for nothing. */
  readonly resumed: string | null;
  /** Keeps it. What is too long is left out with a warning. */
  readonly keep: (text: string) => Promise<void>;
  /**
   * Has people asked what the checkpoint that was kept last suspends its run for, while the agent goes on running. Resolves with JSON of the answer; null where
   * there is none within `commands.permissionWaitMs`, or once the signal aborts: its run is suspended there once the agent has ended. Absent where that is so at
   * once.
   */
  readonly askFor?: (signal: AbortSignal) => Promise<string | null>;
  /** Where it is kept by HTTP: `POST /v1/tasks/<id>/checkpoint`, as an address. */
  readonly address: string;
  /** Opens that to this attempt alone, while it runs. */
  readonly key: string;
}

/** Where a program's own session and its working folder are kept for the next attempt of its task, and the next turn of its session. */
export interface AttemptSessions {
  /** What was kept last; null for nothing. */
  readonly open: () => Promise<KeptRun | null>;
  /** Keeps an archive in the place of what was there. Rejects when it cannot be kept. */
  readonly keep: (session: SessionNote, archive: AsyncIterable<Uint8Array>) => Promise<void>;
}

/** What an attempt before left. */
export interface KeptRun extends SessionNote {
  /** Whether that was one of the same task. */
  readonly isOfTask: boolean;
  /** Opens its archive; null when that is gone. */
  readonly read: () => Promise<AsyncIterable<Uint8Array> | null>;
}

/** Moves files of a task between its storage and the folder of an attempt. What it rejects with fails the attempt. */
export interface AttemptFiles {
  /** Puts the task's attachments into this folder, before the agent starts. */
  readonly bringIn: (folder: string) => Promise<void>;
  /** Keeps what the agent left, once it has ended well and nothing of it runs. The folder is removed after it. */
  readonly takeOut: (left: OutputListing) => Promise<void>;
  /** An address to which the agent can PUT artifacts, each below it by its name, while the attempt runs. */
  readonly uploadUrl?: () => Promise<string>;
}

/** What helps to find out why an attempt failed. */
export interface Diagnostics {
  /** Where an error was thrown. */
  stack?: string;
  /** The code around that line, while an author works on it. */
  sourceCode?: string;
  /** The end of what a program wrote to stderr. */
  stderr?: string;
}

/** What agents of the configuration find on this machine. */
export interface AgentEnvironment {
  /** The folder that relative paths of the configuration start from. */
  readonly directory: string;
  /** `OPENAI_BASE_URL`: the default for agents without a `baseUrl`. */
  readonly openaiBaseUrl: string | undefined;
  /** `OPENAI_API_KEY`: sent only to the origin of `openaiBaseUrl`, or to OpenAI when that is not set. */
  readonly openaiApiKey: string | undefined;
  /** Reads a variable of this process's environment that an agent's definition names in `apiKeyEnv` or `passEnv`, or PATH or LANG. */
  readonly readSecret: (name: string) => string | undefined;
  /** `commands.sandbox` of the configuration: its program is what a start needs. Defaults to none. */
  readonly sandbox?: readonly string[];
}

export interface AgentRunnersOptions extends AgentEnvironment {
  /** Names the fleet, for its processes on a machine that several fleets share. */
  readonly fleetId: (signal: AbortSignal) => Promise<string>;
  /** Networks that agents may reach although they are not public, as CIDR. */
  readonly allowNetworks: readonly string[];
  /** Bytes of an `http` agent's answer, and of one event of a model's. */
  readonly maxResponseBytes: number;
  /**
   * The agents of the operator's own configuration. A `baseUrl` that one of these names may be private, as a model on the
   * same machine is; of any other agent it may not. Defaults to none.
   */
  readonly operatorAgents?: Readonly<Record<string, AgentDefinition>>;
  /** What the fleet knows of parameters that servers refuse. By default each call finds out by itself. */
  readonly parameters?: Pick<LearnedParameters, 'read' | 'learn'>;
  /** `providers` of the configuration. Defaults to none. */
  readonly providers?: Settings['providers'];
  /** `tools` and `mcp` of the configuration. Default to none. */
  readonly tools?: Settings['tools'];
  readonly mcp?: Settings['mcp'];
  /** `models` of the configuration. Defaults to none. */
  readonly models?: Settings['models'];
  /** Whether agents made by API may use `openaiApiKey`. Defaults to false. */
  readonly fleetKeyForApiAgents?: boolean;
  /** Bytes of attachments that one message to a model may have. Defaults to no bound. */
  readonly maxModelBytes?: number;
  /** Whether the failure of a function shows the code around the line that threw. Defaults to false. */
  readonly showsCode?: boolean;
  /** `commands` of the configuration. Defaults to what that defaults to. */
  readonly commands?: CommandSettings;
  /** Called with a tenant whose commands were held by `COMMANDS_TURN`, once they may run. */
  readonly onTurn?: (tenant: string) => void;
  /** Defaults to the system's. */
  readonly clock?: Clock;
}
