import { describe, expect, it } from 'vitest';
import { splitCommand } from '../../../../../services/cli/commands/daemon/split-command.ts';

describe('a command in one text', () => {
  it.each([
    ['claude -p', ['claude', '-p']],
    ['  python3   draw.py {prompt} ', ['python3', 'draw.py', '{prompt}']],
    [String.raw`sh -c 'echo "two words"'`, ['sh', '-c', 'echo "two words"']],
    [String.raw`run "a \"b\" c" d\ e --x='y z'`, ['run', 'a "b" c', 'd e', '--x=y z']],
    [`empty '' ""`, ['empty', '', '']],
  ])('%s is split as a shell would', (command, words) => {
    expect(splitCommand(command)).toEqual(words);
  });

  it.each(["sh -c 'open", 'sh "', ' '])('%j is refused', (command) => {
    expect(() => splitCommand(command)).toThrow('cannot be read');
  });
});
