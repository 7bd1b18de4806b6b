/**
 * What suspended runs wait for besides times: who learns of it, and what resumes them. `events` has what comes by API and hooks. The record of a question
 * (`questions`) is the entry of the run's journal at which it waits, so that it is kept, replayed and removed with its task; an answer is written
 * there by the script that resumes the run.
 */
export { eventNameSchema, lineOf } from './events/event-line.ts';
export { DELIVERS } from './events/kept-events.ts';
export { matchOf, offerEvents } from './events/offer-events.ts';
export { resumeSending, sendEvent } from './events/send-event.ts';
export { WAIT_KINDS } from './gates.ts';
export { seeToWait, type WaitHandlers } from './see-to-wait.ts';
export { answerQuestion, mayAnswer } from './questions/answer-question.ts';
export { type Answerer, answererOf } from './questions/answerer.ts';
export { isSameQuestion } from './questions/asked.ts';
export { findQuestion, listQuestions, questionsOfTask, readQuestions } from './questions/find-questions.ts';
export { QUESTION_ID, QUESTION_STATUSES, questionId, type QuestionRecord } from './questions/question.ts';
export { listQuestion } from './questions/question-list.ts';
export { followSubTasks, resumeParentOf } from './sub-tasks/resume-parent.ts';
export { startSubTasks } from './sub-tasks/start-sub-tasks.ts';
export { agentsOf, delegationText, readAnswers, readCall } from './sub-tasks/sub-tasks.ts';
