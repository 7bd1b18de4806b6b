/**
 * The daemon's side of the hub, for daemons of one's own: `import { Daemon } from 'muster/daemon'`.
 */
export { TaskFailure } from '../../errors/index.ts';
export type { AttemptOutcome, DaemonEvent } from './daemon-event.ts';
export type { DaemonOptions } from './daemon-options.ts';
export { Daemon } from './daemon.ts';
export type { DaemonAttachment, DaemonContext, DaemonHandler, DaemonTask, DaemonWorkspace, WorkspaceLeft } from './daemon-task.ts';
export { HubRefusal, type HubRefusalReason } from './hub-refusal.ts';
export type { KeptWorkspace, WorkspaceShelf } from './kept-workspaces.ts';
export type { MachineLoad } from './measure-machine.ts';
export type { FileContent } from './task-files.ts';
