import type { ReactElement } from 'react';
import { FilterBar, type FilterField } from '../../parts/filters/filter-bar.tsx';
import { PageFrame } from '../../parts/layout/page-frame.tsx';
import { useFilters } from '../../routing/use-filters.ts';
import { QuestionList } from './question-list.tsx';
import classes from './questions.module.css';

const FILTERS = { status: 'text' } as const;
const STATUSES = ['open', 'answered', 'expired', 'withdrawn'];
const FIELDS: readonly FilterField[] = [
  { name: 'status', kind: 'pick', label: 'Status', choices: STATUSES.map((value) => ({ value, label: value })) },
];

/** What runs ask people: what is open, and what was. */
export function Page(): ReactElement {
  const filters = useFilters(FILTERS);
  return (
    <PageFrame title="Questions">
      <FilterBar filters={filters} fields={FIELDS} />
      {filters.count > 0 ? <QuestionList search={filters.search} empty="No question fits the filter." /> : <AllQuestions />}
    </PageFrame>
  );
}

function AllQuestions(): ReactElement {
  return (
    <>
      <h2 className={classes['heading']}>Open</h2>
      <QuestionList search="status=open" empty="No run asks anything." />
      <h2 className={classes['heading']}>Earlier</h2>
      <QuestionList search="" empty="Nothing was asked before." isShown={({ status }) => status !== 'open'} />
    </>
  );
}
