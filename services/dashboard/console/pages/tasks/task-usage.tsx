import type { ReactElement } from 'react';
import type { TaskWithProgress } from '#shared/client/openapi.gen.ts';
import { Count, Money } from '../../parts/numbers.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import classes from './tasks.module.css';

/** The tokens and the cost of a task by model; nothing when no model was called. */
export function TaskUsage({ usage }: { usage: TaskWithProgress['usage'] }): ReactElement | null {
  if (!usage) return null;
  const rows = usage.byModel.length > 0 ? usage.byModel : [{ model: null, ...usage }];
  return (
    <section className="card">
      <h2>Tokens and cost</h2>
      <ScrollBox className={classes['wide']} label="Tokens and cost by model">
        <table className={classes['table']}>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <th scope="col">Sent</th>
              <th scope="col">Cached</th>
              <th scope="col">Answered</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <UsageRow key={row.model ?? ''} name={row.model ?? 'unknown model'} figures={row} />
            ))}
            {rows.length > 1 ? <UsageRow name="In all" figures={usage} /> : null}
          </tbody>
        </table>
      </ScrollBox>
    </section>
  );
}

type Figures = Omit<NonNullable<TaskWithProgress['usage']>, 'byModel'>;

function UsageRow({ name, figures }: { name: string; figures: Figures }): ReactElement {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>
        <Count value={figures.inputTokens} />
      </td>
      <td>
        <Count value={figures.cachedInputTokens} />
      </td>
      <td>
        <Count value={figures.outputTokens} />
      </td>
      <td>
        <Money microUsd={figures.costMicroUsd} isEstimated={figures.isEstimated} />
      </td>
    </tr>
  );
}
