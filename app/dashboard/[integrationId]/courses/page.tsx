import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES } from '../../list-pages';
import { Courses } from './courses';

export const metadata: Metadata = { title: 'Courses' };

export default async function CoursesPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'courses');
  const courseId = search.get('selected');
  await Promise.all([
    queryClient.prefetchInfiniteQuery(trpc.courses.list.infiniteQueryOptions({}, PAGES)),
    courseId && queryClient.prefetchQuery(trpc.courses.get.queryOptions({ courseId })),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Courses />
    </FirstContent>
  );
}
