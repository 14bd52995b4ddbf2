import type { Metadata } from 'next';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../first-content';
import { PAGES } from '../../../list-pages';
import { CoursePage } from './course-page';

export const metadata: Metadata = { title: 'Course' };

export default async function Page(props: PageProps<{ courseId: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'courses/[courseId]');
  const { courseId } = params;
  await Promise.all([
    orNotFound(queryClient.fetchQuery(trpc.courses.get.queryOptions({ courseId }))),
    queryClient.prefetchInfiniteQuery(trpc.sessions.list.infiniteQueryOptions({ courseId }, PAGES)),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <CoursePage courseId={courseId} />
    </FirstContent>
  );
}
