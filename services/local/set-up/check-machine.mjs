import { SetUpProblem } from './run-step.mjs';

const OLDEST_NODE = 20;

/** Refuses a machine on which a later step would fail with a less helpful message. */
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
