import type { AgentInput, AgentResult, AgentTurn, AgentUsage } from '../../config/index.ts';
import type { HubMessage } from '../protocol.ts';
import type { FileContent } from './task-files.ts';

/** What a handler reads of its task. */
export interface DaemonTask {
  readonly id: string;
  /** Whose task it is, by name; empty where the hub is of an older version. */
  readonly tenant: string;
  readonly agent: string;
  /** The prompt. */
  readonly input: string;
  /** What the task's sender gives the model besides; null for nothing. */
  readonly system: string | null;
  readonly session: string | null;
  /** Since when the conversation of its session counts, ISO 8601, UTC: somebody began a new one then; null for all of it. */
  readonly sessionSince: string | null;
  readonly context: Readonly<Record<string, unknown>>;
  /** Number of this attempt, from 1. */
  readonly attempt: number;
  /** Whether messages may arrive while it runs. */
  readonly takesInput: boolean;
  /** How long the attempt may take; then its signal aborts. */
  readonly timeoutMs: number;
  /** ISO 8601, UTC; null for none. */
  readonly deadline: string | null;
  /** The session's earlier turns, oldest first. */
  readonly history: readonly AgentTurn[];
  /** Files that came with the task; each address is short-lived and needs no token. */
  readonly attachments: readonly DaemonAttachment[];
  /** Where files that the task makes are sent; null where none may be. */
  readonly artifactsUrl: string | null;
  /** What it leaves for the next attempt; null where the hub is of an older version. */
  readonly checkpoint: DaemonCheckpoint | null;
  /** The folder that it is to run in; null where its agent has none. */
  readonly workspace: DaemonWorkspace | null;
}

/** A folder that goes on with the session of a task, or with the attempts of one without a session. */
export interface DaemonWorkspace {
  /** What it begins as: a checkout of a repository, a copy of a folder of this machine, or empty. */
  readonly source: NonNullable<HubMessage<'task.execute'>['workspace']>['source'];
  /** How long after a run it is kept. */
  readonly keepMs: number;
}

/** What is kept of a workspace after a run: bytes on the disk, and what was changed in its checkout, as `git diff --stat` says it; null for none. */
export interface WorkspaceLeft {
  readonly bytes: number;
  readonly changes: string | null;
}

/** A checkpoint of JSON with `suspend` has the run wait without a slot once the handler has ended. */
export interface DaemonCheckpoint {
  /** What attempts before left; null for nothing. */
  readonly text: string | null;
  /** JSON of what the run waited for, when it was suspended last; null for nothing. */
  readonly resumed: string | null;
  /** Where another is kept, and the key of this attempt for it: see `DaemonContext.keepCheckpoint`. */
  readonly url: string;
  readonly key: string;
  /** How long `DaemonContext.askPeople` waits, ms; null where the hub is of an older version, and 0 for not at all. */
  readonly askMs: number | null;
}

/** A file that came with a task. */
export interface DaemonAttachment {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly url: string;
}

export interface DaemonContext {
  /** Aborts when the task is cancelled, takes too long, or goes on elsewhere. Stop then. */
  readonly signal: AbortSignal;
  /** Appends to the output; readers of the stream see it within a moment, or once the hub is back. */
  readonly write: (text: string) => void;
  /** Says that work goes on, and how far it is, 0 to 100 per cent; the task shows the latest. */
  readonly progress: (note?: string, percent?: number) => void;
  /** Adds what was used of one model since the last report. Where the answer has a `usage`, that is the total and stands for all reports. */
  readonly reportUsage: (usage: AgentUsage) => void;
  /** Replaces what was reported by all that was used so far. */
  readonly reportTotal: (usage: AgentUsage) => void;
  /** Takes the messages that arrived since the last call, oldest first. */
  readonly input: () => Promise<readonly AgentInput[]>;
  /** Resolves once `input` has something to give, which may be at once. */
  readonly inputArrived: () => Promise<void>;
  /** Writes an attachment of the task to a new file at `path`. */
  readonly download: (attachment: DaemonAttachment, path: string) => Promise<void>;
  /** Adds a file to the task. `content` may be called several times: the network may fail. `mediaType` defaults to that of the name's extension. */
  readonly attach: (name: string, content: () => FileContent, mediaType?: string) => Promise<void>;
  /** Keeps a text for the next attempt, in the place of what was there. Rejects with a `TaskFailure`, OUTPUT_TOO_LARGE for one that is too long. */
  readonly keepCheckpoint: (text: string) => Promise<void>;
  /** Says what is kept of the task's workspace. People see the last at the end of the attempt, with its session. */
  readonly keptWorkspace: (left: WorkspaceLeft) => void;
  /**
   * Has people asked what the checkpoint that was kept last suspends the run for (`suspend.ask`), while the handler goes on, one thing at a time. Resolves with
   * JSON of the answer; null where there is none within `askMs`, or once the signal aborts: the run is suspended there once the handler has ended.
   */
  readonly askPeople: (signal: AbortSignal) => Promise<string | null>;
  /** W3C trace context, to hand on to what the task calls. */
  readonly trace: { readonly traceparent: string };
}

/**
 * Runs one task. A string answer is the output; without one, what was written is. Throw `TaskFailure` to choose the failure's code. It
 * should settle promptly after its signal aborts.
 */
export type DaemonHandler = (task: DaemonTask, context: DaemonContext) => Promise<AgentResult | string | undefined | void>;

function readCheckpoint({ checkpoint }: HubMessage<'task.execute'>): DaemonCheckpoint | null {
  if (!checkpoint) return null;
  const { text = null, resumed = null, askMs = null } = checkpoint;
  return { ...checkpoint, text, resumed, askMs };
}

/** The task of a `task.execute`. */
export function readTask(execute: HubMessage<'task.execute'>): DaemonTask {
  return {
    id: execute.taskId,
    tenant: execute.tenant ?? '',
    agent: execute.agent,
    input: execute.input,
    system: execute.system ?? null,
    session: execute.session ?? null,
    sessionSince: execute.sessionSince ?? null,
    context: execute.context,
    attempt: execute.attempt,
    takesInput: execute.takesInput,
    timeoutMs: execute.timeoutMs,
    deadline: execute.deadline ?? null,
    history: execute.history,
    attachments: execute.attachments,
    artifactsUrl: execute.artifactsUrl ?? null,
    checkpoint: readCheckpoint(execute),
    workspace: execute.workspace ?? null,
  };
}
