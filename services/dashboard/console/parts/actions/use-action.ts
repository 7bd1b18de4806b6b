import { useQueryClient, type QueryKey } from '@tanstack/react-query';
import { problemText } from '../../api/api-problem.ts';
import { useConfirm, type Confirmation } from './confirm.tsx';
import { notify } from './notices.tsx';

export interface Action {
  run: () => Promise<unknown>;
  /** The sentence when it is done, `Queue paused`; a function where it depends on the answer. */
  done: string | (() => string);
  /** What is read again then. */
  refresh?: readonly QueryKey[];
  /** Asked before. */
  confirm?: Confirmation;
  /** Takes it back. */
  undo?: () => Promise<unknown>;
}

/** A function that does an action: asks before, reports after, and reads again what changed. Resolves to whether it was done. */
export function useAction(): (action: Action) => Promise<boolean> {
  const queries = useQueryClient();
  const confirm = useConfirm();
  return async ({ run, done, refresh = [], confirm: question, undo }) => {
    if (question !== undefined && !(await confirm(question))) return false;
    const readAgain = (): Promise<unknown> => Promise.all(refresh.map((queryKey) => queries.invalidateQueries({ queryKey })));
    const takeBack = undo === undefined ? {} : { undo: async () => [await undo(), await readAgain()] };
    try {
      await run();
      notify({ text: typeof done === 'string' ? done : done(), ...takeBack });
      return true;
    } catch (error) {
      notify({ text: problemText(error), tone: 'bad' });
      return false;
    } finally {
      void readAgain();
    }
  };
}
