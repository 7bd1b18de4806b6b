import { SetUpProblem } from './set-up-problem.mjs';

const OLDEST_NODE = 20;

/** Refuses a machine on which the rest of the set-up would fail with a message that says less. */
export function checkMachine(node = process.versions.node, platform = process.platform) {
  if (Number.parseInt(node, 10) < OLDEST_NODE) {
    throw new SetUpProblem(
      `Muster needs Node ${OLDEST_NODE} or newer, and this is ${node}. Install a current one from https://nodejs.org.`,
    );
  }
  if (platform === 'win32') {
    throw new SetUpProblem('Redis does not run on Windows itself. Run Muster inside WSL 2 (https://aka.ms/wsl), or with docker compose.');
  }
}
