# Words per process over the lower bound against the number of processes, mean and largest, of this LU and of ScaLAPACK's; a picture for each order:
#   gnuplot -e "table='lu-figures/table.txt'; picture='lu-figures/lu.svg'" plot_lu.gp
set terminal svg size 1200,900 background "white"
set output picture
set datafile missing "-"
set logscale x 2
set xlabel "processes"
set ylabel "words / lower bound"
set grid
set key top right
set yrange [0:*]
orders = system(sprintf("awk 'NR > 1 && $2 >= 4 && !seen[$1]++ {print $1}' %s", table))
rows(n) = sprintf("< awk '$1 == %s && $2 >= 4' %s", n, table)
set multiplot layout (words(orders) + 1) / 2, words(orders) > 1 ? 2 : 1
# bound = mean words / bound ratio: columns 7 and 16
do for [n in orders] {
  set title "order ".n
  plot rows(n) using 2:16 with linespoints title "this, mean", \
    '' using 2:($8 * $16 / $7) with linespoints title "this, largest", \
    '' using 2:($9 * $16 / $7) with linespoints dashtype 2 title "ScaLAPACK, mean", \
    '' using 2:($10 * $16 / $7) with linespoints dashtype 2 title "ScaLAPACK, largest"
}
unset multiplot
