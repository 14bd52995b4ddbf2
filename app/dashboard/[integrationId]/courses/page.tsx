import type { Metadata } from 'next';
import { COURSE_SORTS } from '../../../../contract/sort-orders';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { PAGES, readSort } from '../../list-pages';
import { Courses } from './courses';

export const metadata: Metadata = { title: 'Courses' };

export default async function CoursesPage(props: PageProps) {
  const { search, trpc, queryClient } = await openPage(props, 'courses');
  const courseId = search.get('selected');
  await Promise.all([
    queryClient.prefetchInfiniteQuery(
      trpc.courses.listSorted.infiniteQueryOptions({ sort: readSort(search, COURSE_SORTS) }, PAGES),
    ),
    queryClient.prefetchQuery(trpc.courses.count.queryOptions()),
    queryClient.prefetchQuery(trpc.savedViews.list.queryOptions()),
    courseId && queryClient.prefetchQuery(trpc.courses.get.queryOptions({ courseId })),
  ]);
  return (
    <FirstContent queryClient={queryClient}>
      <Courses />
    </FirstContent>
  );
}
