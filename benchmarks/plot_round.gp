# Nominal rate of rounding over DGEMM, a group of bars for each size, case and number of processes, a bar for each method:
#   gnuplot -e "table='p3/table.txt'; picture='p3/round.svg'" plot_round.gp
set terminal svg size 1200,520 background "white"
set output picture
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set ylabel "nominal flops of the QR sweeps per second / DGEMM"
set grid ytics
set key top left
set xtics rotate by -35
set yrange [0:*]
rows(m) = sprintf("< awk '$4 == \"%s\" {print $1, \"(\" $2 \")\", $3 \"p\", $6}' %s", m, table)
plot for [m in "qr gram randomized auto"] rows(m) using 4:xtic(stringcolumn(1)." ".stringcolumn(2)." ".stringcolumn(3)) title m
