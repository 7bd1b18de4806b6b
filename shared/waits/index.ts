/** What suspended runs wait for besides times: who learns of it, and what resumes them. */
export { WAIT_KINDS } from './gates.ts';
export { seeToWait, type WaitHandlers } from './see-to-wait.ts';
