/**
 * Daemons: executors on people's own machines. Their registrations with tokens, which daemons are connected to which hub as of the last
 * beat, and the messages that they exchange with a hub over a WebSocket, with their bounds.
 */
export { assertTargetIsLeft } from './assert-target-is-left.ts';
export { attemptKey, type AttemptName } from './attempt-name.ts';
export { type DaemonSignal, parseDaemonSignal, publishDaemonChange, publishDaemonGone, publishDaemonStates } from './daemon-signals.ts';
export { DAEMON_STATUSES, type DaemonState, type DaemonStatus, statusOf } from './daemon-state.ts';
export {
  type BeatOutcome,
  type DaemonBeat,
  type LastState,
  type LiveDaemon,
  readDaemonStates,
  readKnownDaemons,
  readLastStates,
  removeDaemonState,
  writeDaemonStates,
} from './daemon-states.ts';
export { ANY_TENANT, DaemonDirectory } from './dispatch/daemon-directory.ts';
export { DaemonDispatcher } from './dispatch/daemon-dispatcher.ts';
export type { LocalDaemon, LocalDaemons } from './dispatch/local-daemons.ts';
export { daemonKind } from './dispatch/explain-daemons.ts';
export {
  changeDaemon,
  createDaemon,
  findDaemonByToken,
  listDaemonRecords,
  listDaemons,
  readDaemon,
  readDaemons,
  removeDaemon,
  rotateDaemonToken,
} from './daemon-store.ts';
export { type Daemon, type DaemonAddress, daemonNameSchema, isAccessGone, type Registration, registrationSchema } from './daemon.ts';
export {
  type DaemonWorkspace,
  findUnwanted,
  forgetWorkspaces,
  listWorkspaces,
  noteWorkspace,
  type WorkspaceOwner,
} from './daemon-workspaces.ts';
export {
  CLOSE_CODES,
  type DaemonMessage,
  type DaemonMessageToSend,
  type HubMessage,
  type HubMessageToSend,
  parseDaemonMessage,
  parseHubMessage,
  PROTOCOL,
  protocolSchema,
  salvageEnd,
} from './protocol.ts';
