/** What each action is called where people read it: after who did it. */
const NAMES: Readonly<Record<string, string>> = {
  agentSchedule: 'made a schedule',
  agentScheduleCancel: 'removed a schedule',
  agentSchedulePause: 'paused a schedule',
  agentScheduleResume: 'resumed a schedule',
  backfillSchedule: 'made past runs of a schedule',
  boardClean: 'removed a ticket on the board',
  boardCleanAll: 'removed the tickets of a list on the board',
  boardEmpty: 'emptied a queue on the board',
  boardPause: 'paused a queue, or all, on the board',
  boardResume: 'resumed a queue, or all, on the board',
  boardRetry: 'retried a ticket on the board',
  boardRetryAll: 'retried the failed tickets of a queue on the board',
  cancelAction: 'stopped an action on many tasks',
  cancelTask: 'cancelled a task',
  changeAgent: 'changed an agent',
  changeCallbackSecret: 'changed the secret of callbacks',
  changeDaemon: 'changed a daemon',
  changeFleetLimits: 'changed the limits of the fleet',
  changeHook: 'changed a hook',
  changePerson: 'changed a person',
  changePriority: 'changed the priority of a task',
  changeSchedule: 'changed a schedule',
  changeTenant: 'changed a tenant',
  chatQueue: 'chose the mode of a session',
  chatSchedule: 'made a schedule in a chat',
  chatScheduleCancel: 'removed a schedule in a chat',
  chatSchedulePause: 'paused a schedule in a chat',
  chatScheduleResume: 'resumed a schedule in a chat',
  chatStop: 'stopped the tasks of a session',
  connectDaemon: 'connected a daemon',
  createAction: 'retried, cancelled or discarded many tasks',
  createDaemon: 'registered a daemon',
  createHook: 'made a hook',
  createKey: 'made an API key',
  createSchedule: 'made a schedule',
  createSessionUpload: 'uploaded a file for a session',
  createSignInLink: 'made a link that signs in',
  createTenant: 'made a tenant',
  createUpload: 'uploaded a file',
  createVisitor: 'admitted a visitor',
  deleteAgent: 'removed an agent',
  deleteBudget: 'removed a budget',
  deleteDaemon: 'removed a daemon',
  deleteHook: 'removed a hook',
  deleteSchedule: 'removed a schedule',
  deleteTask: 'removed the record of a task',
  deleteTenant: 'removed a tenant',
  drainWorker: 'drained a worker',
  enableCallbackEndpoint: 'enabled an endpoint of callbacks',
  endSignIns: 'signed a person out of all browsers',
  pauseAgent: 'paused an agent',
  pauseQueue: 'paused a queue',
  putAgent: 'made or replaced an agent',
  putBudget: 'made or replaced a budget',
  receiveChatUpdate: 'sent an update of a chat',
  receiveWebhook: 'sent a webhook',
  replayHookDelivery: 'replayed a delivery of a hook',
  resetFleetLimits: 'reset the limits of the fleet',
  resumeAgent: 'resumed an agent',
  resumeQueue: 'resumed a queue',
  retryDelivery: 'sent a delivery again',
  retryTask: 'retried a task',
  revokeKey: 'revoked an API key',
  revokeVisitor: 'revoked a visitor',
  rotateDaemonToken: 'changed the token of a daemon',
  runSchedule: 'ran a schedule',
  sendInput: 'added input to a task',
  sendMessage: 'sent a message',
  setSessionMode: 'chose the mode of a session',
  signIn: 'signed in with a key',
  signInByLink: 'signed in by a link',
  signInByProvider: 'signed in at the identity provider',
  signOut: 'signed out',
  signOutByProvider: 'was signed out by the identity provider',
  skipOccurrence: 'skipped an occurrence of a schedule',
  stopSession: 'stopped the tasks of a session',
  submitTask: 'submitted a task',
  submitTasks: 'submitted tasks',
  testHook: 'tested a hook',
  uploadLinkedFile: 'uploaded a file',
};

const PLACES = [
  ['board', 'on the board'],
  ['chat', 'in a chat'],
] as const;

/** The name of an action for people; without one, the words of its id. */
export function describeAction(action: string): string {
  if (Object.hasOwn(NAMES, action)) return NAMES[action] ?? action;
  for (const [prefix, place] of PLACES) {
    const rest = action.slice(prefix.length);
    if (action.startsWith(prefix) && /^[A-Z]/.test(rest)) return `"${wordsOf(rest)}" ${place}`;
  }
  return wordsOf(action);
}

function wordsOf(id: string): string {
  return id.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
