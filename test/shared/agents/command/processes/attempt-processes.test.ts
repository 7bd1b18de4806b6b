import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { isProcessGone } from '../../../../support/agents/agent-process.ts';
import { childEnvironment } from '../../../../support/test-environment.ts';
import { waitFor } from '../../../../support/wait-for.ts';

/** A process that starts a group of two, writes their ids, and exits by itself at the next line of its stdin. */
const PROGRAM = `
import { spawn } from 'node:child_process';
import { AttemptProcesses, trackCommands } from '#shared/agents/command/processes/attempt-processes.ts';

const running = trackCommands(1000);
const child = spawn('sh', ['-c', 'trap "" TERM; sleep 600 & echo $$ $!; wait'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
running.track(new AttemptProcesses({ mark: 'none', leader: child.pid, folder: '/nowhere' }));
process.stdin.once('data', () => process.exit(0));
`;

describe('the commands of a process', () => {
  it('are killed when it exits before their programs ended', async () => {
    const parent = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      env: childEnvironment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(parent, 'close');
    const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
    const pids = line.split(' ').map(Number);
    expect(pids).toHaveLength(2);
    expect(pids.map(isProcessGone)).toEqual([false, false]);
    parent.stdin.end('exit\n');
    await exited;
    await waitFor(() => pids.every(isProcessGone), { deadlineMs: 2000, what: 'all of them to be gone' });
  });
});
